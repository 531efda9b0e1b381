// The paths of the API, each with all of its possible responses.
import { RUN_STATUSES } from '../../../core/journal.ts';
import { MAX_ACCOUNTS } from '../account-page.ts';
import { DEFAULT_LIMIT, MAX_RUNS } from '../run-filter.ts';
import { type ComponentName, ref } from './schemas.ts';

type Answers = Readonly<Record<string, object>>;

function json(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}

function answer(description: string, name: ComponentName) {
  return json(description, ref(name));
}

/** A refusal with the time after which the client may try again. */
function busy(why: string) {
  const headers = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } };
  return { ...error(`\`busy\`: ${why}; or \`store_unavailable\``), headers };
}

function error(description: string) {
  return answer(description, 'Error');
}

const shared = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** The responses that every path behind the token can have. */
const ALWAYS: Answers = {
  '400': shared('BadRequest'),
  '401': shared('Unauthorized'),
  '421': shared('WrongHost'),
  '429': shared('TooManyAttempts'),
  '500': shared('Internal'),
  '503': shared('StoreUnavailable'),
};

const WRITING: Answers = { ...ALWAYS, '403': shared('Refused'), '413': shared('TooLarge') };

const ACCOUNT_NAME = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'Name of the account in the configuration.',
  schema: { type: 'string', pattern: '^[^/]+$' },
  example: 'acme-eu',
};

const RUN_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the run, or the unambiguous beginning of it.',
  schema: { type: 'string', pattern: '^[0-9a-f-]+$' },
  example: '0193a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
};

const LIMIT = {
  name: 'limit',
  in: 'query',
  description: 'Maximum number of actions.',
  schema: { type: 'integer', minimum: 1, maximum: MAX_RUNS, default: DEFAULT_LIMIT },
};

const RUN_FILTERS = [
  { name: 'account', description: 'Only runs of this account.', schema: { type: 'string' } },
  {
    name: 'status',
    description: 'Only runs with this status.',
    schema: { type: 'string', enum: RUN_STATUSES },
  },
  {
    name: 'since',
    description: 'Only runs newer than this, such as `24h` or `7d`.',
    schema: { type: 'string', pattern: '^[0-9]{1,12}(ms|s|m|h|d)$' },
  },
  {
    name: 'limit',
    description: 'Maximum number of runs.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_RUNS, default: DEFAULT_LIMIT },
  },
].map((parameter) => ({ ...parameter, in: 'query' }));

const ACCOUNT_PAGE = [
  {
    name: 'limit',
    description: 'Maximum number of accounts; all by default. The last page has fewer.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_ACCOUNTS },
  },
  {
    name: 'after',
    description: 'Only accounts after this name: the last one of the page before.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,255}$' },
  },
].map((parameter) => ({ ...parameter, in: 'query' }));

interface ReadOperation {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters?: readonly object[];
}

function read({ operationId, tag, summary, parameters = [] }: ReadOperation, answers: Answers) {
  return { get: { operationId, tags: [tag], summary, parameters, responses: { ...ALWAYS, ...answers } } };
}

function act(operationId: string, summary: string, answers: Answers, body: object = {}) {
  return {
    post: {
      operationId,
      tags: ['Operator'],
      summary,
      parameters: [ACCOUNT_NAME],
      ...body,
      responses: { ...WRITING, '404': shared('NoAccount'), ...answers },
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
        '421': { description: 'No token is configured, and the Host header is not a loopback address.' },
      },
    },
  };
}

function text(description: string) {
  return { description, content: { 'text/plain': { schema: { type: 'string' } } } };
}

export const PATHS = {
  '/healthz': probe('getHealth', 'Whether the process is alive', { '200': text('It is alive.') }),
  '/readyz': probe('getReadiness', 'Whether the daemon can run accounts', {
    '200': text('It can.'),
    '503': text('One line for each part that is not ready.'),
  }),
  '/metrics': probe('getMetrics', 'Metrics for Prometheus', {
    '200': text('Text in the exposition format of Prometheus.'),
    '503': text('Too many scrapes at the same time.'),
  }),
  '/api/v1/openapi.json': read(
    { operationId: 'getDescription', tag: 'Daemon', summary: 'This description' },
    {
      '200': json('OpenAPI 3.1.', { type: 'object' }),
    },
  ),
  '/api/v1/status': read(
    { operationId: 'getStatus', tag: 'Daemon', summary: 'The state of the daemon itself' },
    {
      '200': answer('The state.', 'Status'),
    },
  ),
  '/api/v1/replicas': read(
    { operationId: 'listReplicas', tag: 'Daemon', summary: 'The processes that share the accounts' },
    {
      '200': answer('The replicas, oldest first.', 'Replicas'),
    },
  ),
  '/api/v1/accounts': read(
    {
      operationId: 'listAccounts',
      tag: 'Accounts',
      summary: 'All configured accounts, or a page of them',
      parameters: ACCOUNT_PAGE,
    },
    {
      '200': answer('The accounts, ordered by name.', 'Accounts'),
    },
  ),
  '/api/v1/accounts/{name}': read(
    { operationId: 'getAccount', tag: 'Accounts', summary: 'One account', parameters: [ACCOUNT_NAME] },
    { '200': answer('The account.', 'Account'), '404': shared('NoAccount') },
  ),
  '/api/v1/accounts/{name}/actions': read(
    {
      operationId: 'listActions',
      tag: 'Accounts',
      summary: 'Who approved, paused, resumed and ran an account, newest first',
      parameters: [ACCOUNT_NAME, LIMIT],
    },
    { '200': answer('The actions.', 'Actions'), '404': shared('NoAccount') },
  ),
  '/api/v1/accounts/{name}/sync': act(
    'syncAccount',
    'Run an account as soon as possible; during a run, exactly one more run follows',
    {
      '202': answer('A run is queued.', 'Queued'),
      '409': error(
        '`left_out`: the newest configuration of the replicas has no such account, so no run is queued.',
      ),
      '503': error('`stopping`: this daemon is shutting down and starts no new run; or `store_unavailable`.'),
    },
  ),
  '/api/v1/accounts/{name}/approve': act(
    'approvePlan',
    'Allow the daemon to apply the pending plan of an account: only this plan, once, within 24 hours',
    {
      '200': answer('The plan is approved.', 'Approved'),
      '409': error('`nothing_pending`, or `other_plan` with the digest of the pending plan.'),
    },
    { requestBody: { required: false, content: { 'application/json': { schema: ref('Approval') } } } },
  ),
  '/api/v1/accounts/{name}/pause': act(
    'pauseAccount',
    'Stop the scheduled runs of an account',
    { '200': answer('Scheduled runs are stopped.', 'Paused') },
    { requestBody: { required: false, content: { 'application/json': { schema: ref('Pause') } } } },
  ),
  '/api/v1/accounts/{name}/resume': act('resumeAccount', 'Restart the scheduled runs of an account', {
    '200': answer('Scheduled runs start again.', 'Resumed'),
  }),
  '/api/v1/runs': read(
    { operationId: 'listRuns', tag: 'Runs', summary: 'Runs, newest first', parameters: RUN_FILTERS },
    { '200': answer('The runs.', 'Runs') },
  ),
  '/api/v1/runs/{id}': read(
    {
      operationId: 'getRun',
      tag: 'Runs',
      summary: 'One run with its plan, its operations and their results',
      parameters: [RUN_ID],
    },
    {
      '200': answer('The run.', 'Run'),
      '404': error('`not_found`: there is no such run.'),
      '503': busy('too many large runs are being sent'),
    },
  ),
  '/api/v1/plan': {
    post: {
      operationId: 'planConfiguration',
      tags: ['Operator'],
      summary:
        'Plan posted configuration files with the history of this daemon; writes nothing, and needs only the role read',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref('PostedConfiguration') } },
      },
      responses: {
        '200': json('A plan or a failure for each account.', {
          type: 'array',
          items: { anyOf: [ref('Plan'), ref('FailedPlan')] },
        }),
        ...WRITING,
        '400': error(
          '`bad_request`; or `config_invalid` or `usage`, when the posted files are invalid or too large to read.',
        ),
        '503': busy('too many posted configurations are waiting'),
      },
    },
  },
};

/** Everything under `#/components/responses`. */
export const RESPONSES = {
  BadRequest: error('`bad_request`: the message names the problem and the fix.'),
  Unauthorized: {
    ...error('`unauthorized`: the token is missing or wrong.'),
    headers: { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { type: 'string' } } },
  },
  Refused: error(
    '`read_only`: the token has the role read; `writing_off`: no token is configured; `cross_site`: a page of another site sent the request.',
  ),
  NoAccount: error('`not_found`: there is no such account.'),
  TooLarge: error('`too_large`: the body is larger than 1 MiB, or 16 MiB for a configuration.'),
  WrongHost: error('`wrong_host`: no token is configured, and the Host header is not a loopback address.'),
  TooManyAttempts: {
    ...error('`too_many_attempts`: this address sent too many wrong tokens.'),
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
  },
  StoreUnavailable: {
    ...error(
      '`store_unavailable`: the store cannot be used now; or `busy`: too many requests of this client wait. Send it again later.',
    ),
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
  },
  Internal: error('`internal`: the server failed; its log has the details.'),
};
