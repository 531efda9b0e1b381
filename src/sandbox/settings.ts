// The settings of the sandbox: behaviour that the public description of the service leaves open.
import { z } from 'zod';
import {
  aBoolean,
  anInteger,
  aNonEmptyString,
  aNumber,
  aString,
  objectOf,
  oneOf,
  parseAs,
  recordOf,
} from './check.ts';

/** A limit for each account: a bucket of `burst` requests that refills at a constant rate. */
const rateLimit = objectOf({
  requestsPerSecond: aNumber(0.001),
  burst: anInteger(1),
  /** The `Retry-After` header of the 429: whole seconds, an HTTP date, or no header. */
  retryAfter: oneOf('seconds', 'date', 'none'),
});
export type RateLimit = z.output<typeof rateLimit>;

const DOCUMENTED_FIELDS =
  '_id accountId name createDate create_date roleId skillsIds workingDays dailyCapacity calendarsIds salary'.split(
    ' ',
  );

const extraFields = recordOf(z.unknown()).superRefine((fields, context) => {
  for (const key of DOCUMENTED_FIELDS.filter((each) => Object.hasOwn(fields, each))) {
    context.addIssue(`"${key}" is a documented field; choose another name for the extra field`);
  }
});

const success = anInteger(200, 299);
const anyStatus = anInteger(200, 599);

const FIELDS = {
  /** The status of a successful create: any 2xx. 204 and 205 are sent without a body. */
  createStatus: success,
  /** The status of a list of skills or roles: any 2xx. The list of resources always has 200. */
  listStatus: success,
  /** Whether a second entry with the same name and kind is refused; `caseless` ignores case. */
  uniqueNames: oneOf(false, true, 'exact', 'caseless').transform((value) =>
    value === true ? 'exact' : value,
  ),
  /** The status of that refusal. Like the status of every error, any from 200 to 599. */
  duplicateStatus: anyStatus,
  /** Whether white space at the ends of a name is removed before it is stored. */
  trimNames: aBoolean,
  caseNames: oneOf('keep', 'lower', 'upper'),
  /** The Unicode form in which names are stored. */
  normaliseNames: oneOf('keep', 'NFC', 'NFD', 'NFKC'),
  /** In code points, like `maxNameLength`. A name outside these limits is a validation error. */
  minNameLength: anInteger(0),
  maxNameLength: anInteger(1).nullable(),
  /** The status of a delete of an unknown id. With a 2xx the response is that of a successful delete. */
  unknownIdStatus: anyStatus,
  /** The status with which every delete is refused; null: deletes are allowed. */
  deleteRefusalStatus: anyStatus.nullable(),
  validationStatus: anyStatus,
  /** The status for a wrong token. */
  unauthorizedStatus: anyStatus,
  /** The status for a missing token; null: the same as for a wrong one. */
  missingTokenStatus: anyStatus.nullable(),
  /** The string in the response of a delete. */
  deleteString: aString,
  /** How long the lists of skills and roles hide a create and still show a delete. Controls take effect at once. */
  listDelayMs: aNumber(0),
  /** Timestamps as `…Z`, or without a zone. */
  timestampsWithZone: aBoolean,
  /**
   * Lists omit optional fields: `createDate` and `accountId` of skills and roles; of resources `create_date`, and
   * `roleId`, `skillsIds`, `calendarsIds` and `salary` if they are empty. Responses of creates stay complete.
   */
  omitOptionalFields: aBoolean,
  listOrder: oneOf('insertion', 'shuffled'),
  rateLimit: rateLimit.nullable(),
  /** A delay of every response. The effect comes first: a request takes effect even if its client stops waiting. */
  latencyMs: aNumber(0),
  /** Account name → the `accountId` in its lists and responses of creates, instead of the real one. */
  listedAccountId: recordOf(aNonEmptyString),
  /** Undocumented fields, added to every skill, role and resource. */
  extraFields,
  /** Whether responses of 1 KiB or more are gzipped for clients that accept it. */
  compress: aBoolean,
  /** The seed of the shuffled order and of the probabilities of faults. */
  randomSeed: anInteger(0),
};

/** How the sandbox behaves. `src/sandbox/README.md` lists all settings. */
export type SandboxSettings = z.output<ReturnType<typeof objectOf<typeof FIELDS>>>;

export const DEFAULT_SETTINGS: SandboxSettings = {
  createStatus: 201,
  listStatus: 200,
  uniqueNames: false,
  duplicateStatus: 409,
  trimNames: false,
  caseNames: 'keep',
  normaliseNames: 'keep',
  minNameLength: 1,
  maxNameLength: null,
  unknownIdStatus: 404,
  deleteRefusalStatus: null,
  validationStatus: 422,
  unauthorizedStatus: 401,
  missingTokenStatus: null,
  deleteString: 'Successfully deleted',
  listDelayMs: 0,
  timestampsWithZone: true,
  omitOptionalFields: false,
  listOrder: 'insertion',
  rateLimit: null,
  latencyMs: 0,
  listedAccountId: {},
  extraFields: {},
  compress: true,
  randomSeed: 1,
};

/** Some of the settings. */
export const settingsSchema = objectOf(FIELDS).unwrap().exactPartial().readonly();

/** The current settings with the given changes. Throws a `SandboxError` that names every invalid or unknown setting. */
export function changeSettings(current: SandboxSettings, changes: unknown): SandboxSettings {
  return { ...current, ...parseAs(settingsSchema, changes, 'settings') };
}

/** The name that the service stores for a requested name. */
export function storedName(name: string, settings: SandboxSettings): string {
  let stored = settings.trimNames ? name.trim() : name;
  if (settings.caseNames === 'lower') stored = stored.toLowerCase();
  if (settings.caseNames === 'upper') stored = stored.toUpperCase();
  return settings.normaliseNames === 'keep' ? stored : stored.normalize(settings.normaliseNames);
}
