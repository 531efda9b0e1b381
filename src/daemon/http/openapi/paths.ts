// The paths of the API, each with everything that it may answer.
import { RUN_STATUSES } from '../../../core/journal.ts';
import { DEFAULT_LIMIT, MOST_RUNS } from '../run-filter.ts';
import { ref, type Schema } from './schema-words.ts';
import type { SCHEMAS } from './schemas.ts';

type Answers = Readonly<Record<string, object>>;

function json(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

function answer(description: string, name: keyof typeof SCHEMAS) {
  return json(description, ref(name));
}

/** Who has to wait is told for how long. */
function busy(why: string) {
  const headers = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } };
  return { ...error(`\`busy\`: ${why}`), headers };
}

function error(description: string) {
  return answer(description, 'Error');
}

const shared = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** What every path behind the token may answer. */
const ALWAYS: Answers = {
  '400': shared('BadRequest'),
  '401': shared('Unauthorized'),
  '421': shared('WrongHost'),
  '429': shared('TooManyAttempts'),
  '500': shared('Internal'),
};

const WRITING: Answers = { ...ALWAYS, '403': shared('Refused'), '413': shared('TooLarge') };

const ACCOUNT_NAME = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'Name of the account in the configuration.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]+$' },
  example: 'acme-eu',
};

const RUN_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the run, or an unambiguous beginning of it.',
  schema: { type: 'string', pattern: '^[0-9a-f-]+$' },
  example: '0193a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
};

const RUN_FILTERS = [
  { name: 'account', description: 'Runs of this account only.', schema: { type: 'string' } },
  {
    name: 'status',
    description: 'Runs that ended so only.',
    schema: { type: 'string', enum: RUN_STATUSES },
  },
  {
    name: 'since',
    description: 'How far back, as `24h` or `7d`.',
    schema: { type: 'string', pattern: '^[0-9]{1,12}(ms|s|m|h|d)$' },
  },
  {
    name: 'limit',
    description: 'How many at most.',
    schema: { type: 'integer', minimum: 1, maximum: MOST_RUNS, default: DEFAULT_LIMIT },
  },
].map((parameter) => ({ ...parameter, in: 'query' }));

function read(
  operationId: string,
  tag: string,
  summary: string,
  answers: Answers,
  parameters: object[] = [],
) {
  return { get: { operationId, tags: [tag], summary, parameters, responses: { ...answers, ...ALWAYS } } };
}

function act(operationId: string, summary: string, answers: Answers, body: object = {}) {
  return {
    post: {
      operationId,
      tags: ['Operator'],
      summary,
      parameters: [ACCOUNT_NAME],
      ...body,
      responses: { ...answers, ...WRITING, '404': shared('NoAccount') },
    },
  };
}

function probe(operationId: string, summary: string, answers: Answers) {
  return {
    get: {
      operationId,
      tags: ['Probes'],
      summary,
      security: [],
      responses: {
        ...answers,
        '421': { description: 'Without a token in the configuration: the Host is not loopback.' },
      },
    },
  };
}

function text(description: string) {
  return { description, content: { 'text/plain': { schema: { type: 'string' } } } };
}

export const PATHS = {
  '/healthz': probe('getHealth', 'Whether the process lives', { '200': text('It does.') }),
  '/readyz': probe('getReadiness', 'Whether it can do its work', {
    '200': text('It can.'),
    '503': text('What is not ready, a line each.'),
  }),
  '/metrics': probe('getMetrics', 'Metrics for Prometheus', {
    '200': text('The exposition format of Prometheus.'),
  }),
  '/api/v1/openapi.json': read('getDescription', 'Daemon', 'This description', {
    '200': json('OpenAPI 3.1.', { type: 'object' }),
  }),
  '/api/v1/status': read('getStatus', 'Daemon', 'The daemon as a whole', {
    '200': answer('How it stands.', 'Status'),
  }),
  '/api/v1/accounts': read('listAccounts', 'Accounts', 'All configured accounts', {
    '200': answer('The accounts, by name.', 'Accounts'),
  }),
  '/api/v1/accounts/{name}': read(
    'getAccount',
    'Accounts',
    'One account',
    { '200': answer('The account.', 'Account'), '404': shared('NoAccount') },
    [ACCOUNT_NAME],
  ),
  '/api/v1/accounts/{name}/sync': act(
    'syncAccount',
    'Run an account as soon as there is room; while it runs, exactly one more run follows',
    {
      '202': answer('It will run.', 'Queued'),
      '503': error('`stopping`: the daemon starts nothing new.'),
    },
  ),
  '/api/v1/accounts/{name}/approve': act(
    'approvePlan',
    'Let the pending plan of an account be carried out: this plan only, once, within 24 hours',
    {
      '200': answer('It is approved.', 'Approved'),
      '409': error('`nothing_pending`, or `other_plan` with the digest of the plan that waits.'),
    },
    { requestBody: { required: false, content: { 'application/json': { schema: ref('Approval') } } } },
  ),
  '/api/v1/accounts/{name}/pause': act('pauseAccount', 'Stop the scheduled runs of an account', {
    '200': answer('They are stopped.', 'Paused'),
  }),
  '/api/v1/accounts/{name}/resume': act('resumeAccount', 'Restart the scheduled runs of an account', {
    '200': answer('They go on.', 'Resumed'),
  }),
  '/api/v1/runs': read(
    'listRuns',
    'Runs',
    'Runs, newest first',
    { '200': answer('The runs.', 'Runs') },
    RUN_FILTERS,
  ),
  '/api/v1/runs/{id}': read(
    'getRun',
    'Runs',
    'One run with everything that came of it',
    {
      '200': answer('The run.', 'Run'),
      '404': error('`not_found`: there is no such run.'),
      '503': busy('too many large runs are being read.'),
    },
    [RUN_ID],
  ),
  '/api/v1/plan': {
    post: {
      operationId: 'planConfiguration',
      tags: ['Operator'],
      summary:
        'Plan configuration files with the history of this daemon; writes nothing, and the role read may',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref('PostedConfiguration') } },
      },
      responses: {
        '200': json('One for each account.', {
          type: 'array',
          items: { anyOf: [ref('Plan'), ref('FailedPlan')] },
        }),
        ...WRITING,
        '400': error(
          '`bad_request`, or `config_invalid` and `usage` for what the files themselves say, or take to read.',
        ),
        '503': busy('too many posted plans wait already.'),
      },
    },
  },
};

/** Everything under `#/components/responses`. */
export const RESPONSES = {
  BadRequest: error('`bad_request`: what is wrong, and the mend.'),
  Unauthorized: {
    ...error('`unauthorized`: the token is missing or wrong.'),
    headers: { 'WWW-Authenticate': { description: 'Bearer.', schema: { type: 'string' } } },
  },
  Refused: error(
    '`read_only`: the token has the role read; `writing_off`: no token is set in the configuration; `cross_site`: sent by the page of another site.',
  ),
  NoAccount: error('`not_found`: there is no such account.'),
  TooLarge: error('`too_large`: the body is over 1 MiB, or 16 MiB for a configuration.'),
  WrongHost: error('`wrong_host`: without a token in the configuration only a loopback Host is answered.'),
  TooManyAttempts: {
    ...error('`too_many_attempts`: this address gave too many wrong tokens.'),
    headers: { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } },
  },
  Internal: error('`internal`: the server failed; its log says how.'),
};
