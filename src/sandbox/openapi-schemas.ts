// The schemas of the OpenAPI description.

import { PERIODS } from './model.ts';

const ID = { type: 'string', minLength: 1 };

function entrySchema(what: string) {
  return {
    type: 'object',
    description: `A ${what} of the account. Only \`_id\` and \`name\` are always present.`,
    required: ['_id', 'name'],
    properties: {
      _id: { ...ID, description: `${what === 'skill' ? 'Skill' : 'Role'} ID.` },
      accountId: { type: 'string', description: `Account the ${what} belongs to.` },
      name: { type: 'string', description: `Display name of the ${what}.` },
      createDate: { type: 'string', format: 'date-time', description: 'Creation timestamp.' },
    },
  };
}

const SALARY = {
  type: 'object',
  description: 'Salary information of a resource.',
  properties: {
    amount: { type: 'integer', default: 0, description: 'Salary amount in the given currency.' },
    currency: { type: 'string', default: 'USD', description: 'ISO 4217 currency code.' },
    period: {
      type: 'string',
      enum: PERIODS,
      default: 'monthly',
      description: 'Period the amount refers to.',
    },
  },
};

const RESOURCE = {
  type: 'object',
  description: 'A platform user who is configured as a resource.',
  required: ['_id', 'accountId', 'workingDays', 'dailyCapacity'],
  properties: {
    _id: { ...ID, description: 'Platform user ID of this resource.' },
    accountId: { type: 'string', description: 'Account the resource belongs to.' },
    create_date: {
      type: 'string',
      format: 'date-time',
      description: 'UTC timestamp when the resource was created.',
    },
    roleId: { type: ['string', 'null'], description: 'ID of the role assigned to the resource.' },
    skillsIds: {
      type: 'array',
      items: { type: 'string' },
      description: 'IDs of skills assigned to the resource.',
    },
    workingDays: {
      type: 'array',
      items: { type: 'integer', minimum: 0, maximum: 6 },
      description: 'Days of the week the resource works: 0=Monday, 1=Tuesday, ..., 6=Sunday.',
    },
    dailyCapacity: {
      type: 'number',
      description: 'Daily capacity. The unit depends on the account configuration.',
    },
    calendarsIds: {
      type: 'array',
      items: { type: 'string' },
      description: 'IDs of holiday calendars assigned to the resource.',
    },
    salary: {
      description: 'Salary information.',
      oneOf: [{ $ref: '#/components/schemas/Salary' }, { type: 'null' }],
    },
  },
};

const VALIDATION_ERROR = {
  type: 'object',
  description: 'The validation errors of a request.',
  required: ['detail'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['loc', 'msg', 'type'],
        properties: {
          loc: { type: 'array', items: { type: 'string' }, description: 'Location of the faulty value.' },
          msg: { type: 'string', description: 'Message.' },
          type: { type: 'string', description: 'Error type identifier.' },
          input: { description: 'The input received.' },
          ctx: { type: 'object', description: 'Extra context.' },
        },
      },
    },
  },
};

/** `components.schemas`. `Problem` is the choice of the sandbox: the service states no body for these errors. */
export const SCHEMAS = {
  Resource: RESOURCE,
  Salary: SALARY,
  Skill: entrySchema('skill'),
  Role: entrySchema('role'),
  NewEntry: {
    type: 'object',
    description: 'Exactly the field `name`.',
    required: ['name'],
    additionalProperties: false,
    properties: { name: { type: 'string', description: 'Display name.' } },
  },
  ValidationError: VALIDATION_ERROR,
  Problem: {
    type: 'object',
    description: 'Any other error. The service states no body for it; this is the body of the sandbox.',
    required: ['detail'],
    properties: { detail: { type: 'string' } },
  },
};
