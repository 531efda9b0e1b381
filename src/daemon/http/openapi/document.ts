// The OpenAPI 3.1 description of the daemon, served at /api/v1/openapi.json.
import { PATHS, RESPONSES } from './paths.ts';
import { componentSchemas } from './schemas.ts';

/** The description of the API, without the pages. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'rolecall',
    version: '1',
    summary: 'The daemon that keeps the skills and roles of accounts exactly as in their files.',
    description:
      'Shows the state of every account and the journal of runs, and accepts the commands of an operator. ' +
      'Errors are `{error: {code, message}}`. A token with the role read may use GET and plan; a token with the role ' +
      'operate may use everything. Without a configured token, nothing can be changed.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'The daemon that serves this description.' }],
  security: [{ bearer: [] }, { session: [] }],
  tags: [
    { name: 'Probes', description: 'For monitoring; they need no token.' },
    { name: 'Daemon', description: 'The daemon itself.' },
    { name: 'Accounts', description: 'The current state of the configured accounts.' },
    { name: 'Runs', description: 'The runs in the journal.' },
    { name: 'Operator', description: 'Commands of an operator, and plans on demand.' },
  ],
  paths: PATHS,
  components: {
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: '`http.token`, or one of `http.tokens`, of the service file.',
      },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'rolecall_session',
        description:
          'The session of a browser that has signed in, signed by the daemon. Over https the name of the cookie begins with `__Host-`.',
      },
    },
    responses: RESPONSES,
    schemas: componentSchemas(),
  },
} as const;
