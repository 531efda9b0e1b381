// Plans and runs in the description of the API: the same shapes as config/schema/plan.schema.json and run.schema.json.
import { ACTIONS, KINDS } from '../../../core/catalog.ts';
import { OPERATION_STATUSES, RUN_STATUSES, TRIGGERS } from '../../../core/journal.ts';
import { HOLD_RULES } from '../../../core/plan.ts';
import {
  aConst,
  aCount,
  aFlag,
  anEnum,
  anObject,
  aText,
  aTime,
  listOf,
  orNull,
  ref,
} from './schema-words.ts';

const KIND = anEnum('Kind of the entry.', KINDS);
const ACTION = anEnum('What is done with the entry.', ACTIONS);
const SCHEMA_VERSION = { ...aConst(1), description: 'Changes when a program that reads this has to.' };
const PEOPLE = listOf(aText('Id of a resource.'), 'Ids of the resources that have the entry, sorted.');

const RUN_FIELDS = {
  schemaVersion: SCHEMA_VERSION,
  id: aText('UUIDv7.'),
  account: aText('Name of the account in the configuration.'),
  remoteAccountId: orNull(aText('Id of the account in the service.')),
  trigger: anEnum('Who asked for the run.', TRIGGERS),
  mode: anEnum('`plan`: nothing was written.', ['plan', 'approve', 'apply']),
  status: anEnum('What became of the run.', RUN_STATUSES),
  startedAt: aTime('When it began.'),
  finishedAt: orNull(aTime('When it ended.')),
  configDigest: orNull(aText('What the account asked for.')),
  configCommit: orNull(aText('Commit that the configuration stood in.')),
  configDirty: orNull(aFlag('Whether the configuration differed from that commit.')),
  configAuthoredAt: orNull(aTime('When that commit was authored.')),
  configSubject: orNull(aText('First line of what that commit says.')),
  planDigest: orNull(aText('Digest of the plan.')),
  created: aCount('Entries that were created; of a run that works, so far.'),
  deleted: aCount('Entries that were deleted.'),
  held: aCount('Changes that wait for a person or for time.'),
  kept: aCount('Entries that are as the file says.'),
  failed: aCount('Operations that failed.'),
  requests: aCount('Requests to the service; counted when the run ends.'),
  retries: aCount('Requests that were sent again; counted when the run ends.'),
  errorCode: orNull(aText('Stable name of what went wrong.')),
  error: orNull(aText('What went wrong, for people.')),
  folded: aCount('Quiet runs that repeated this one and are kept as a count only.'),
  foldedUntil: orNull(aTime('When the last of them ended.')),
};

/** The schemas under `#/components/schemas` that plans and runs need. */
export const PLAN_SCHEMAS = {
  Warning: {
    ...anObject(
      'Something to know that is no difference and no failure.',
      { code: aText('Stable name of the warning.'), message: aText('For people; its words may change.') },
      {
        kind: KIND,
        name: aText('Name of the entry it is about.'),
        remoteId: aText('Id of the entry it is about.'),
      },
    ),
    additionalProperties: true,
  },
  PlannedOperation: anObject(
    'One create or delete that the plan carries out.',
    { action: ACTION, kind: KIND, name: aText('Name that is created, or as the service shows it.') },
    {
      remoteId: aText('Id of the entry that is deleted.'),
      usedBy: PEOPLE,
      reason: aText('Why, where it is not plain.'),
    },
  ),
  HeldChange: anObject('A change that waits for a person or for time.', {
    action: ACTION,
    kind: KIND,
    name: aText('Name of the entry.'),
    remoteId: orNull(aText('Id of the entry; null for a create.')),
    usedBy: PEOPLE,
    rules: {
      ...listOf(anEnum('A rule that holds it.', HOLD_RULES), 'Every rule that holds the change.'),
      minItems: 1,
    },
    reason: aText('Why it is held.'),
    release: aText('What would release it.'),
  }),
  LeftAlone: anObject('An entry that standing policy keeps.', {
    kind: KIND,
    name: aText('Name of the entry.'),
    remoteId: aText('Id of the entry.'),
    rule: anEnum('The policy.', ['unmanaged', 'protected', 'never_delete', 'duplicate']),
  }),
  PlanSummary: anObject('Counts over the managed kinds.', {
    create: aCount('To create.'),
    delete: aCount('To delete.'),
    hold: aCount('Held.'),
    keep: aCount('As the file says.'),
    leave: aCount('Left alone.'),
  }),
  Plan: anObject('The plan of one account.', {
    schemaVersion: SCHEMA_VERSION,
    account: aText('Name of the account in the configuration.'),
    remoteAccountId: orNull(aText('Id of the account in the service.')),
    createdAt: aTime('When it was made.'),
    digest: aText('Covers the remote account id and the operations with their `usedBy`.'),
    configDigest: aText('What the account asks for.'),
    observedDigest: aText('What the service listed.'),
    configCommit: orNull(aText('Commit that the configuration stands in.')),
    status: anEnum('`blocked`: a guard refuses to write anything at all.', ['planned', 'blocked']),
    summary: ref('PlanSummary'),
    operations: listOf(ref('PlannedOperation'), 'In the order in which they are carried out.'),
    held: listOf(ref('HeldChange'), 'Changes that wait for a person or for time.'),
    leftAlone: listOf(ref('LeftAlone'), 'Entries that standing policy keeps.'),
    warnings: listOf(ref('Warning'), 'What to know besides.'),
  }),
  FailedPlan: anObject('An account that could not be planned.', {
    schemaVersion: SCHEMA_VERSION,
    account: aText('Name of the account in the configuration.'),
    status: { ...aConst('failed'), description: 'There is no plan.' },
    error: anObject('Why.', { code: aText('Stable.'), message: aText('For people.') }),
  }),
  Operation: anObject('One operation of a run, and what became of it.', {
    seq: { ...aCount('Position in the run, from 1.'), minimum: 1 },
    kind: KIND,
    action: ACTION,
    name: aText('Name of the entry.'),
    remoteId: orNull(aText('Id of the entry.')),
    status: anEnum('`skipped`: planned and not tried.', OPERATION_STATUSES),
    rule: orNull(aText('The first rule that held it.')),
    reason: orNull(aText('Why, where it is not plain.')),
    attempts: aCount('How often it was sent.'),
    httpStatus: orNull({ type: 'integer', description: 'Of the last answer.' }),
    startedAt: orNull(aTime('When it was first sent.')),
    finishedAt: orNull(aTime('When it was known what came of it.')),
  }),
  RunSummary: anObject('One run.', RUN_FIELDS),
  Run: anObject('One run with everything that came of it.', {
    ...RUN_FIELDS,
    operations: listOf(ref('Operation'), 'In the order in which they are carried out.'),
    warnings: listOf(ref('Warning'), 'What to know besides.'),
    plan: {
      anyOf: [ref('Plan'), { type: 'null' }],
      description: 'null: it never came to plan, or the plan is no longer kept.',
    },
  }),
};
