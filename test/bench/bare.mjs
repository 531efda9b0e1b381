// The limit that rolecall is compared with: the smallest loop of node:http that sends the requests of a job, and nothing else.
// It reads each answer completely, and parses only what it needs for the next request.
// node bare.mjs BASE_URL IN_FLIGHT TOKEN[,TOKEN…] list | plan | create COUNT | delete COUNT | apply
import { Agent, request } from 'node:http';

const [baseUrl, inFlight, tokens, job, count = '0'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });

/** Sends a request as soon as one of the connections is free. Resolves with the body. */
function call(token, method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `${baseUrl}/api/public/v1/${path}`;
    request(url, { method, agent, headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode >= 300) reject(new Error(`${method} ${path}: ${response.statusCode}`));
        else resolve(Buffer.concat(parts));
      });
    })
      .on('error', reject)
      .end(body);
  });
}

/** Skills and roles at once, then resources: the documented order. */
async function lists(token) {
  const [skills] = await Promise.all([call(token, 'GET', 'skill'), call(token, 'GET', 'role')]);
  await call(token, 'GET', 'resource');
  return skills;
}

const create = (token, name) => call(token, 'POST', 'skill', JSON.stringify({ name }));

async function run(token) {
  if (job === 'list') return void (await call(token, 'GET', 'skill'));
  const skills = await lists(token);
  if (job === 'plan') return;
  if (job === 'delete') {
    await lists(token); // read again right before the first delete
    const gone = JSON.parse(skills).slice(0, Number(count));
    await Promise.all(gone.map(({ _id }) => call(token, 'DELETE', `skill/${_id}`)));
  } else {
    const names =
      job === 'apply'
        ? [`Made ${skills.length}`]
        : Array.from({ length: Number(count) }, (_, n) => `Made ${n}`);
    await Promise.all(names.map((name) => create(token, name)));
  }
  await lists(token); // verified
}

await Promise.all(tokens.split(',').map(run));
agent.destroy();
