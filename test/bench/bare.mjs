// What rolecall is compared with: a bare loop that sends exactly the requests that a job needs, eight at once, and nothing
// else, with the HTTP client of Node.js or with undici.
// node bare.mjs http|undici BASE_URL TOKEN plan | create COUNT | delete COUNT
const [client, baseUrl, token, job, count = '0'] = process.argv.slice(2);
const CONCURRENCY = 8;
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

/** Resolves with `{ status, text, close }` of a client that keeps its connections open. */
const clients = {
  async http() {
    const { Agent, request } = await import('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
    const send = (method, url, body) =>
      new Promise((resolve, reject) => {
        const sent = request(url, { method, agent, headers }, (response) => {
          const parts = [];
          response.on('data', (part) => parts.push(part));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }),
          );
        });
        sent.on('error', reject);
        sent.end(body);
      });
    return { send, close: () => agent.destroy() };
  },
  async undici() {
    const { Agent, request } = await import('undici');
    const dispatcher = new Agent({ connections: CONCURRENCY, pipelining: 1 });
    const send = async (method, url, body) => {
      const response = await request(url, { method, dispatcher, headers, body });
      return { status: response.statusCode, text: await response.body.text() };
    };
    return { send, close: () => dispatcher.close() };
  },
};

const { send, close } = await clients[client]();

async function call(method, path, body) {
  const { status, text } = await send(method, `${baseUrl}/api/public/v1/${path}`, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Skills and roles at once, then resources: the documented order. */
async function lists() {
  const [skills] = await Promise.all([call('GET', 'skill'), call('GET', 'role')]);
  await call('GET', 'resource');
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
  await atOnce(names, (name) => call('POST', 'skill', JSON.stringify({ name })));
  await lists(); // verified
}
if (job === 'delete') {
  await lists(); // read again right before the first delete
  await atOnce(skills.slice(0, Number(count)), ({ _id }) => call('DELETE', `skill/${_id}`));
  await lists(); // verified
}
await close();
