// The examples of the OpenAPI description. They are consistent: together they describe one account.

const ACCOUNT = 'sandbox-account-1';
const CREATED = '2026-01-05T08:00:00.000Z';

function example(id: string, name: string) {
  return { accountId: ACCOUNT, name, _id: id, createDate: CREATED };
}

const [typescript, kubernetes, figma] = [
  example('65a000000000000000000001', 'TypeScript'),
  example('65a000000000000000000002', 'Kubernetes'),
  example('65a000000000000000000003', 'Figma'),
] as const;
const [engineer, designer] = [
  example('65b000000000000000000001', 'Backend engineer'),
  example('65b000000000000000000002', 'Designer'),
] as const;

function person(id: string, roleId: string | null, skillsIds: readonly string[], salary: object | null) {
  return {
    _id: id,
    accountId: ACCOUNT,
    create_date: CREATED,
    roleId,
    skillsIds,
    workingDays: [0, 1, 2, 3, 4],
    dailyCapacity: 8,
    calendarsIds: ['65d000000000000000000001'],
    salary,
  };
}

/** Every `_id` is unique, and every id in a resource is the `_id` of an example. */
export const EXAMPLES = {
  skills: [typescript, kubernetes, figma],
  roles: [engineer, designer],
  newSkill: example('65a000000000000000000004', 'PostgreSQL'),
  newRole: example('65b000000000000000000003', 'Product owner'),
  resources: [
    person('65c000000000000000000001', engineer._id, [typescript._id, kubernetes._id], {
      amount: 5200,
      currency: 'EUR',
      period: 'monthly',
    }),
    person('65c000000000000000000002', designer._id, [figma._id], null),
    person('65c000000000000000000003', null, [], null),
  ],
  skillId: typescript._id,
  roleId: engineer._id,
  deleted: 'Successfully deleted',
  invalid: {
    detail: [{ loc: ['body', 'name'], msg: 'Field required', type: 'missing', input: {}, ctx: {} }],
  },
  problem: { detail: 'Not authenticated' },
};
