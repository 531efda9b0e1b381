// Accounts, the daemon, and what is posted, in the description of the API.
import { PLAN_DIGEST } from '../../../core/operator.ts';
import { PLAN_SCHEMAS } from './plan-schemas.ts';
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

function orNothing(schema: object, description: string) {
  return { anyOf: [schema, { type: 'null' }], description };
}

const PENDING = anObject('The plan that waits for approval.', {
  digest: aText('What an approval names.'),
  runId: aText('The run that made it.'),
  since: aTime('Since when it waits.'),
});

const APPROVED = anObject('The plan that is approved and not carried out yet.', {
  digest: aText('Digest of the plan.'),
  expiresAt: aTime('When the approval ends.'),
});

const DRIFT = anObject('What a plan would do now.', {
  create: aCount('Entries to create.'),
  delete: aCount('Entries to delete.'),
});

const ACCOUNT = anObject('One account as the daemon sees it now.', {
  name: aText('Name in the configuration.'),
  valid: aFlag('Whether its configuration is valid.'),
  issues: listOf(aText('`file:line:column: …`'), 'What is wrong with its configuration.'),
  mode: {
    type: ['string', 'null'],
    enum: ['plan', 'approve', 'apply', null],
    description: 'From the last good configuration.',
  },
  schedule: orNull(aText('Cron line, from the last good configuration.')),
  timezone: orNull(aText('Of the schedule.')),
  region: orNull(aText('Where the account lives.')),
  remoteAccountId: orNull(aText('Id of the account in the service.')),
  paused: aFlag('Whether scheduled runs are stopped.'),
  activity: anEnum('`queued`: waits for room.', ['running', 'queued', 'idle']),
  nextRunAt: orNull(aTime('When it runs next; null while it is paused.')),
  backoffUntil: orNull(aTime('Before then no scheduled run starts, after failures.')),
  consecutiveFailures: aCount('Runs that failed in a row.'),
  drift: orNothing(DRIFT, 'null: not known.'),
  pending: orNothing(PENDING, 'null: none waits, or a run carries it out at this moment.'),
  approved: orNothing(APPROVED, 'null: none is.'),
  lastRun: orNothing(ref('RunSummary'), 'null: it has not run yet.'),
  lastSuccessAt: orNull(aTime('When a run last went well.')),
});

const COMMIT = anObject('A commit.', {
  sha: aText('Its id.'),
  dirty: aFlag('Whether the working tree differed from it.'),
  committedAt: aTime('When it was committed.'),
  authoredAt: aTime('When it was written.'),
  subject: aText('First line of its message.'),
});

const STATUS = anObject('The daemon as a whole.', {
  version: aText('Version of rolecall.'),
  startedAt: aTime('Since when it runs.'),
  issues: listOf(aText('One error.'), 'Errors of the service’s file; the last good configuration goes on.'),
  commit: orNothing(COMMIT, 'Where the configuration stands in git; null: it does not.'),
  undelivered: aCount('Notifications that could not be delivered in the last 24 hours.'),
});

const POSTED = {
  ...anObject(
    'The configuration files of a working tree.',
    {
      config: aText('The service’s file, one of `files`.'),
      files: {
        type: 'object',
        description: 'Text by relative path, with slashes, below one root; `..` is refused.',
        additionalProperties: { type: 'string' },
        maxProperties: 5000,
      },
    },
    {
      accounts: listOf(aText('Name of an account.'), 'Which accounts to plan; none means all.'),
      commit: orNothing(
        anObject('The commit of the working tree.', {
          sha: aText('Its id.'),
          committedAt: aTime('Its time.'),
        }),
        'When the working tree stands in git.',
      ),
    },
  ),
};

const ERROR = anObject('Why it was refused, or that it failed.', {
  error: anObject(
    'The reason.',
    { code: aText('Stable, for programs.'), message: aText('For people, with the mend.') },
    { pending: aText('With `other_plan`: the digest of the plan that waits.') },
  ),
});

/** Everything under `#/components/schemas`. */
export const SCHEMAS = {
  ...PLAN_SCHEMAS,
  Account: ACCOUNT,
  Accounts: anObject('All configured accounts.', { accounts: listOf(ref('Account'), 'By name.') }),
  Runs: anObject('Some runs.', { runs: listOf(ref('RunSummary'), 'Newest first.') }),
  Status: STATUS,
  PostedConfiguration: POSTED,
  Approval: anObject(
    'Which plan is approved.',
    {},
    {
      digest: {
        type: ['string', 'null'],
        pattern: PLAN_DIGEST.source,
        description: 'The plan that is meant, or at least eight hex digits of it; null: whatever waits now.',
      },
    },
  ),
  Approved: anObject('The plan is approved.', {
    status: { ...aConst('approved'), description: 'Done.' },
    digest: aText('Digest of the plan.'),
    expiresAt: aTime('When the approval ends.'),
  }),
  Queued: anObject('A run starts as soon as there is room.', {
    status: { ...aConst('queued'), description: 'Accepted.' },
  }),
  Paused: anObject('Scheduled runs are stopped.', {
    status: { ...aConst('paused'), description: 'Done.' },
  }),
  Resumed: anObject('Scheduled runs go on.', {
    status: { ...aConst('resumed'), description: 'Done.' },
  }),
  Error: ERROR,
};
