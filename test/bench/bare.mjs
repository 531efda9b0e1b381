// The comparison: a bare undici loop that sends exactly the requests that a job needs, eight at once, and nothing else.
// node bare.mjs BASE_URL TOKEN plan | create COUNT | delete COUNT
import { Agent, request } from 'undici';

const [baseUrl, token, job, count = '0'] = process.argv.slice(2);
const CONCURRENCY = 8;
const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

async function send(method, path, body) {
  const response = await request(`${baseUrl}/api/public/v1/${path}`, { method, dispatcher, headers, body });
  const answer = await response.body.json();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode}`);
  return answer;
}

/** Skills and roles at once, then resources: the documented order. */
async function lists() {
  const [skills] = await Promise.all([send('GET', 'skill'), send('GET', 'role')]);
  await send('GET', 'resource');
  return skills;
}

async function atOnce(items, work) {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const skills = await lists();
if (job === 'create') {
  const names = Array.from({ length: Number(count) }, (_, index) => `Made ${index}`);
  await atOnce(names, (name) => send('POST', 'skill', JSON.stringify({ name })));
  await lists(); // verified
}
if (job === 'delete') {
  await lists(); // read again right before the first delete
  await atOnce(skills.slice(0, Number(count)), ({ _id }) => send('DELETE', `skill/${_id}`));
  await lists(); // verified
}
await dispatcher.close();
