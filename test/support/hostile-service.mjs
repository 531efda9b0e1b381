// A service in its own process: healthy accounts below /healthy-N, and one account for each large or slow response.
// Prints its address as its only line.
import { createServer } from 'node:http';
import { createGzip, gzipSync } from 'node:zlib';

const MANY = 100_000;
const id = (kind, number) => kind + number.toString(16).padStart(23, '0');

function entry(kind, number) {
  const name = `${kind} number ${number} of the catalog`;
  return `{"_id":"${id(kind, number)}","accountId":"4815162342","name":"${name}","createDate":"2024-01-01T00:00:00Z"}`;
}

function person(number) {
  const skillsIds = [1, 2, 3, 4, 5].map((step) => id('s', (number * 7 + step) % MANY));
  return JSON.stringify({
    _id: id('p', number),
    accountId: '4815162342',
    create_date: '2024-01-01T00:00:00Z',
    roleId: id('r', number % MANY),
    skillsIds,
    workingDays: [0, 1, 2, 3, 4],
    dailyCapacity: 8,
  });
}

function* items(count, item) {
  for (let number = 0; number < count; number += 1) yield (number === 0 ? '[' : ',') + item(number);
  yield count === 0 ? '[]' : ']';
}

const packed = (count, item) => gzipSync([...items(count, item)].join(''), { level: 1 });
const tiny = packed(300_000, (number) => `{"_id":"${number}","name":"${number}"}`);
const large = packed(
  95_000,
  (number) => `{"_id":"${number}","name":"${number}","note":"${'x'.repeat(600)}"}`,
);
const fullLists = {
  skill: packed(MANY, (number) => entry('s', number)),
  role: packed(MANY, (number) => entry('r', number)),
  resource: packed(MANY, person),
};
const bomb = gzipSync(gzipSync(Buffer.alloc(512 * 1024 * 1024), { level: 9 }));
const repeated = packed(200_000, () => `{"_id":"1","name":"1"}`);

const asGzip = (response, body) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);

/** Writes for as long as the other side reads. */
function forever(response, next) {
  const write = () => {
    while (!response.destroyed && response.write(next()));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

const ANSWERS = {
  full: (response, list) => asGzip(response, fullLists[list]),
  'full-held': (response, list) => asGzip(response, fullLists[list]),
  tiny: (response) => asGzip(response, tiny),
  large: (response) => asGzip(response, large),
  bomb: (response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb),
  repeated: (response) => asGzip(response, repeated),
  deep: (response) => response.end(`[{"_id":"1","name":"a","x":${'['.repeat(30_000_000)}`),
  name: (response) => {
    response.write('[{"_id":"1","name":"');
    const piece = 'x'.repeat(65_536);
    forever(response, () => piece);
  },
  endless: (response) => {
    let number = 0;
    response.write('[{"_id":"0","name":"a"}');
    forever(response, () => `,{"_id":"${(number += 1)}","name":"${number}"}`.repeat(1));
  },
  space: (response) => {
    const gzip = createGzip({ level: 1 });
    gzip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
    const piece = ' '.repeat(1_000_000);
    const write = () => {
      while (!response.destroyed && gzip.write(piece));
      if (!response.destroyed) gzip.once('drain', write);
    };
    write();
  },
  drip: (response) => {
    response.writeHead(200).write('[');
    const timer = setInterval(() => response.write(' '), 200);
    response.on('close', () => clearInterval(timer));
  },
  silent: () => undefined,
  refusal: (response) => {
    response.writeHead(400);
    const piece = 'no '.repeat(20_000);
    forever(response, () => piece);
  },
};

const server = createServer((request, response) => {
  request.resume();
  response.on('error', () => undefined);
  const [, account = '', , , , list = ''] = (request.url ?? '').split('/');
  const answer = ANSWERS[account];
  if (answer !== undefined) return void answer(response, list);
  // An entry belongs to one account.
  const first = MANY * (1 + Number(account.split('-')[1]));
  const entries = items(list === 'resource' ? 0 : 50, (number) => entry(list[0] ?? '', first + number));
  const healthy = [...entries].join('');
  response.end(healthy);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
