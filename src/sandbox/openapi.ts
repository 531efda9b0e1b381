// The OpenAPI 3.1 description of the seven operations, served at /openapi.json.

import { type Kind, KINDS, REGIONS } from './model.ts';
import { EXAMPLES } from './openapi-examples.ts';
import { SCHEMAS } from './openapi-schemas.ts';

const COUNTRIES = { us: 'United States', eu: 'Europe', au: 'Australia', il: 'Israel' };
const TITLES = { skill: 'Skill', role: 'Role' } as const;

function body(schema: object, example: unknown) {
  return { 'application/json': { schema, example } };
}

function ref(name: keyof typeof SCHEMAS) {
  return { $ref: `#/components/schemas/${name}` };
}

function reply(description: string, schema: object, example: unknown) {
  return { description, content: body(schema, example) };
}

function failure(description: string) {
  return reply(description, ref('Problem'), { detail: description });
}

const ANY_FAILURE = {
  '401': { $ref: '#/components/responses/Unauthorized' },
  '403': { $ref: '#/components/responses/Forbidden' },
  '429': { $ref: '#/components/responses/TooManyRequests' },
  // The service states no status of any error, and the settings allow any.
  default: { $ref: '#/components/responses/Failure' },
};

const INVALID = { $ref: '#/components/responses/Invalid' };

function collection(kind: Kind) {
  const title = TITLES[kind];
  const [list, made] =
    kind === 'skill' ? [EXAMPLES.skills, EXAMPLES.newSkill] : [EXAMPLES.roles, EXAMPLES.newRole];
  const created = reply(`The ${kind} that was created.`, { allOf: [ref(title), CREATED] }, made);
  return {
    get: {
      operationId: `list${title}s`,
      tags: [`${title}s`],
      summary: `List ${kind}s`,
      description: `All ${kind}s defined in the account, without paging or filtering, in no particular order.`,
      responses: {
        '200': reply(`All ${kind}s of the account.`, { type: 'array', items: ref(title) }, list),
        ...ANY_FAILURE,
      },
    },
    post: {
      operationId: `create${title}`,
      tags: [`${title}s`],
      summary: `Create a ${kind}`,
      description:
        'Not idempotent: two requests create two entries unless names are unique. The status can be any 2xx.',
      requestBody: { required: true, content: body(ref('NewEntry'), { name: made.name }) },
      responses: {
        '200': created,
        '201': created,
        '2XX': created,
        '400': INVALID,
        ...ANY_FAILURE,
        '409': failure(`A ${kind} with this name already exists`),
        '413': failure('Content Too Large'),
        '422': INVALID,
      },
    },
  };
}

const CREATED = { type: 'object', required: ['accountId', 'createDate'] };

function item(kind: Kind) {
  const title = TITLES[kind];
  const effect = kind === 'skill' ? 'removes it from all resources' : 'unassigns it from all resources';
  const unknown = { $ref: '#/components/responses/UnknownId' };
  return {
    delete: {
      operationId: `delete${title}`,
      tags: [`${title}s`],
      summary: `Delete a ${kind}`,
      description: `Deleting a ${kind} ${effect}.`,
      parameters: [
        {
          name: `${kind}_id`,
          in: 'path',
          required: true,
          description: `The \`_id\` of the ${kind}.`,
          schema: { type: 'string' },
          example: kind === 'skill' ? EXAMPLES.skillId : EXAMPLES.roleId,
        },
      ],
      responses: {
        '200': reply('A single string of unspecified content.', { type: 'string' }, EXAMPLES.deleted),
        '400': unknown,
        ...ANY_FAILURE,
        '404': unknown,
        '409': unknown,
        '410': unknown,
        '422': unknown,
      },
    },
  };
}

const RESOURCES = {
  get: {
    operationId: 'listResources',
    tags: ['Resources'],
    summary: 'List resources',
    description: "The platform users configured as resources for the token's account. Read only.",
    responses: {
      '200': reply(
        'All resources of the account.',
        { type: 'array', items: ref('Resource') },
        EXAMPLES.resources,
      ),
      ...ANY_FAILURE,
    },
  },
};

/** The description with the base addresses of this sandbox as its servers. */
export function openapiDocument(url: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Planning Service Public API',
      version: '1.0.0',
      description:
        'Resources, skills and roles of a resource-planning service, as the sandbox of rolecall serves them. ' +
        'What the service leaves open (most statuses) is a setting of the sandbox.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: REGIONS.map((region) => ({ url: `${url}/${region}`, description: COUNTRIES[region] })),
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Resources', description: 'The people of the account, read only.' },
      { name: 'Skills', description: 'The skills that people have.' },
      { name: 'Roles', description: 'The roles that people have.' },
    ],
    paths: {
      '/api/public/v1/resource': RESOURCES,
      ...Object.fromEntries(
        KINDS.flatMap((kind) => [
          [`/api/public/v1/${kind}`, collection(kind)],
          [`/api/public/v1/${kind}/{${kind}_id}`, item(kind)],
        ]),
      ),
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key generated in the settings of the planning service. It determines the account.',
        },
      },
      responses: {
        Unauthorized: reply('The token is missing or wrong.', ref('Problem'), EXAMPLES.problem),
        Forbidden: reply('The token does not allow this operation.', ref('Problem'), EXAMPLES.problem),
        TooManyRequests: {
          ...failure('Too Many Requests'),
          headers: {
            'Retry-After': { description: 'Seconds, or an HTTP date.', schema: { type: 'string' } },
          },
        },
        Failure: reply(
          'Any other error.',
          { anyOf: [ref('Problem'), ref('ValidationError')] },
          EXAMPLES.problem,
        ),
        UnknownId: failure('The account has no entry with this id.'),
        Invalid: reply('The body is invalid.', ref('ValidationError'), EXAMPLES.invalid),
      },
      schemas: SCHEMAS,
    },
  };
}
