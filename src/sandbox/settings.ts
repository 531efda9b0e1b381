// The settings of the sandbox: behaviour that the public description of the service leaves open.

import {
  aBoolean,
  aNumber,
  aString,
  aNonEmptyString,
  anInteger,
  anything,
  type Check,
  Issues,
  isRecord,
  nullOr,
  objectOf,
  oneOf,
  recordOf,
} from './check.ts';

/** A limit for each account: a bucket of `burst` requests that refills at a constant rate. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
  /** The `Retry-After` header of the 429: whole seconds, an HTTP date, or no header. */
  readonly retryAfter: 'seconds' | 'date' | 'none';
}

/** How the sandbox behaves. `src/sandbox/README.md` lists all settings. */
export interface SandboxSettings {
  /** The status of a successful create: any 2xx. 204 and 205 are sent without a body. */
  readonly createStatus: number;
  /** The status of a list of skills or roles: any 2xx. The list of resources always has 200. */
  readonly listStatus: number;
  /** Whether a second entry with the same name and kind is refused; `caseless` ignores case. */
  readonly uniqueNames: false | 'exact' | 'caseless';
  /** The status of that refusal. Like the status of every error, any from 200 to 599. */
  readonly duplicateStatus: number;
  /** Whether white space at the ends of a name is removed before it is stored. */
  readonly trimNames: boolean;
  readonly caseNames: 'keep' | 'lower' | 'upper';
  /** The Unicode form in which names are stored. */
  readonly normaliseNames: 'keep' | 'NFC' | 'NFD' | 'NFKC';
  /** In code points, like `maxNameLength`. A name outside these limits is a validation error. */
  readonly minNameLength: number;
  readonly maxNameLength: number | null;
  /** The status of a delete of an unknown id. With a 2xx the response is that of a successful delete. */
  readonly unknownIdStatus: number;
  /** The status with which every delete is refused; null: deletes are allowed. */
  readonly deleteRefusalStatus: number | null;
  readonly validationStatus: number;
  /** The status for a wrong token. */
  readonly unauthorizedStatus: number;
  /** The status for a missing token; null: the same as for a wrong one. */
  readonly missingTokenStatus: number | null;
  /** The string in the response of a delete. */
  readonly deleteString: string;
  /** How long the lists of skills and roles hide a create and still show a delete. Controls take effect at once. */
  readonly listDelayMs: number;
  /** Timestamps as `…Z`, or without a zone. */
  readonly timestampsWithZone: boolean;
  /**
   * Lists omit optional fields: `createDate` and `accountId` of skills and roles; of resources `create_date`, and
   * `roleId`, `skillsIds`, `calendarsIds` and `salary` if they are empty. Responses of creates stay complete.
   */
  readonly omitOptionalFields: boolean;
  readonly listOrder: 'insertion' | 'shuffled';
  readonly rateLimit: RateLimit | null;
  /** A delay of every response. The effect comes first: a request takes effect even if its client stops waiting. */
  readonly latencyMs: number;
  /** Account name → the `accountId` in its lists and responses of creates, instead of the real one. */
  readonly listedAccountId: Readonly<Record<string, string>>;
  /** Undocumented fields, added to every skill, role and resource. */
  readonly extraFields: Readonly<Record<string, unknown>>;
  /** Whether responses of 1 KiB or more are gzipped for clients that accept it. */
  readonly compress: boolean;
  /** The seed of the shuffled order and of the probabilities of faults. */
  readonly randomSeed: number;
}

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

const DOCUMENTED_FIELDS = new Set(
  '_id accountId name createDate create_date roleId skillsIds workingDays dailyCapacity calendarsIds salary'.split(
    ' ',
  ),
);

const extraFields: Check = (value, path, issues) => {
  recordOf(anything)(value, path, issues);
  if (!isRecord(value)) return;
  for (const key of Object.keys(value).filter((each) => DOCUMENTED_FIELDS.has(each))) {
    issues.add(path, `"${key}" is a documented field; choose another name for the extra field`);
  }
};

const success = anInteger(200, 299);
const anyStatus = anInteger(200, 599);

const FIELDS = {
  createStatus: success,
  listStatus: success,
  duplicateStatus: anyStatus,
  deleteRefusalStatus: nullOr(anyStatus),
  missingTokenStatus: nullOr(anyStatus),
  uniqueNames: oneOf(false, true, 'exact', 'caseless'),
  trimNames: aBoolean,
  caseNames: oneOf('keep', 'lower', 'upper'),
  normaliseNames: oneOf('keep', 'NFC', 'NFD', 'NFKC'),
  minNameLength: anInteger(0),
  maxNameLength: nullOr(anInteger(1)),
  unknownIdStatus: anyStatus,
  validationStatus: anyStatus,
  unauthorizedStatus: anyStatus,
  deleteString: aString,
  listDelayMs: aNumber(0),
  timestampsWithZone: aBoolean,
  omitOptionalFields: aBoolean,
  listOrder: oneOf('insertion', 'shuffled'),
  rateLimit: nullOr(
    objectOf(
      {
        requestsPerSecond: aNumber(0.001),
        burst: anInteger(1),
        retryAfter: oneOf('seconds', 'date', 'none'),
      },
      ['requestsPerSecond', 'burst', 'retryAfter'],
    ),
  ),
  latencyMs: aNumber(0),
  listedAccountId: recordOf(aNonEmptyString),
  extraFields,
  compress: aBoolean,
  randomSeed: anInteger(0),
} satisfies Record<keyof SandboxSettings, Check>;

export const settingsCheck: Check = objectOf(FIELDS);

/** The current settings with the given changes. Throws a `SandboxError` that names every invalid or unknown setting. */
export function changeSettings(
  current: SandboxSettings,
  changes: unknown,
  path = 'settings',
): SandboxSettings {
  const issues = new Issues();
  settingsCheck(changes, path, issues);
  issues.throwIfAny();
  const given = Object.entries(changes as object).filter(([, value]) => value !== undefined);
  const valid = Object.fromEntries(given) as Partial<SandboxSettings>; // every key and value was checked above
  const merged = { ...current, ...valid };
  return { ...merged, uniqueNames: (merged.uniqueNames as unknown) === true ? 'exact' : merged.uniqueNames };
}

/** The name that the service stores for a requested name. */
export function storedName(name: string, settings: SandboxSettings): string {
  let stored = settings.trimNames ? name.trim() : name;
  if (settings.caseNames === 'lower') stored = stored.toLowerCase();
  if (settings.caseNames === 'upper') stored = stored.toUpperCase();
  return settings.normaliseNames === 'keep' ? stored : stored.normalize(settings.normaliseNames);
}
