// The OpenAPI 3.1 description of the daemon, served at /api/v1/openapi.json.
import { PATHS, RESPONSES } from './paths.ts';
import { SCHEMAS } from './schemas.ts';

/** The whole description. Pages are for people and stand nowhere in it. */
export function openapiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'rolecall',
      version: '1',
      summary: 'The daemon that keeps the skills and roles of accounts as files say.',
      description:
        'Reads the state of every account and the journal of runs, and takes the few words of an operator. ' +
        'Errors are `{error: {code, message}}`. A token with the role read may use GET and plan; one with the role operate ' +
        'everything. Writing is off where the daemon has no token.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The daemon that serves this description.' }],
    security: [{ bearer: [] }, { session: [] }],
    tags: [
      { name: 'Probes', description: 'For whoever watches the process; no token is asked.' },
      { name: 'Daemon', description: 'The daemon itself.' },
      { name: 'Accounts', description: 'The configured accounts as they stand now.' },
      { name: 'Runs', description: 'The journal.' },
      { name: 'Operator', description: 'Words of a person, and plans on demand.' },
    ],
    paths: PATHS,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: '`http.token` or one of `http.tokens` of the service’s configuration.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'rolecall_session',
          description: 'A browser that has signed in; over https its name begins with `__Host-`.',
        },
      },
      responses: RESPONSES,
      schemas: SCHEMAS,
    },
  } as const;
}
