// What planning-service-api.md leaves open ("not shown"), as settings of the sandbox.

import {
  aBoolean,
  aNumber,
  aString,
  aText,
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

/** A limit for each account: a bucket of `burst` requests that refills steadily (section 8: not shown). */
export interface RateLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
  /** How the 429 says when to come back: whole seconds, an HTTP date, or not at all. */
  readonly retryAfter: 'seconds' | 'date' | 'none';
}

/** How the service behaves where its document is silent. */
export interface SandboxSettings {
  /** The status of a successful create (section 4, rule 3): any 2xx; 204 and 205 are sent without a body. */
  readonly createStatus: number;
  /** The status of a list of skills or roles (section 4 shows one for the list of resources only): any 2xx. */
  readonly listStatus: number;
  /** Whether a second entry of a name is refused, within a kind; `caseless` also when only case differs. */
  readonly uniqueNames: false | 'exact' | 'caseless';
  /** The status of that refusal. This one and those of all other errors are any status from 200 to 599 (section 7). */
  readonly duplicateStatus: number;
  /** Whether white space around a name is taken off when it is stored. */
  readonly trimNames: boolean;
  readonly caseNames: 'keep' | 'lower' | 'upper';
  /** The Unicode form in which names are stored. */
  readonly normaliseNames: 'keep' | 'NFC' | 'NFD' | 'NFKC';
  /** In code points, as is `maxNameLength`; outside them a create is a validation error. */
  readonly minNameLength: number;
  readonly maxNameLength: number | null;
  /** The status of a delete of an id that the account does not hold; a 2xx answers as if it had been deleted. */
  readonly unknownIdStatus: number;
  /** The status with which every delete of an entry is refused; null: none is. */
  readonly deleteRefusalStatus: number | null;
  readonly validationStatus: number;
  /** The status for a wrong token. */
  readonly unauthorizedStatus: number;
  /** The status for a missing token; null: the same as for a wrong one. */
  readonly missingTokenStatus: number | null;
  /** The string that a delete answers with (section 4, rule 7). */
  readonly deleteString: string;
  /** How long the skill and role lists hide a create and still show a delete. The controls are seen at once. */
  readonly listDelayMs: number;
  /** Timestamps as `…Z`, or without a zone. */
  readonly timestampsWithZone: boolean;
  /**
   * Lists leave out what may be missing: `createDate` and `accountId` of skills and roles; `create_date`, and
   * `roleId`, `skillsIds`, `calendarsIds` and `salary` when empty, of resources. Create answers stay complete
   * (section 4, rule 2).
   */
  readonly omitOptionalFields: boolean;
  readonly listOrder: 'insertion' | 'shuffled';
  readonly rateLimit: RateLimit | null;
  /** Added to every answer. The effect comes first: whoever gives up waiting has still changed something. */
  readonly latencyMs: number;
  /** Account name → the `accountId` that its objects carry instead of their own, in lists and create answers. */
  readonly listedAccountId: Readonly<Record<string, string>>;
  /** Fields that the document does not know, added to every skill, role and resource. */
  readonly extraFields: Readonly<Record<string, unknown>>;
  /** Whether answers are gzipped for a client that accepts it. */
  readonly compress: boolean;
  /** The seed of everything random: the shuffled order and the probabilities of faults. */
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
    issues.add(path, `"${key}" is a field of the document; an extra field needs another name`);
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
  listedAccountId: recordOf(aText),
  extraFields,
  compress: aBoolean,
  randomSeed: anInteger(0),
} satisfies Record<keyof SandboxSettings, Check>;

export const settingsCheck: Check = objectOf(FIELDS);

/** The current settings with some of them replaced. Throws `SandboxError` that names every wrong or unknown one. */
export function changeSettings(
  current: SandboxSettings,
  changes: unknown,
  path = 'settings',
): SandboxSettings {
  const issues = new Issues();
  settingsCheck(changes, path, issues);
  issues.throwIfAny();
  const given = Object.entries(changes as object).filter(([, value]) => value !== undefined);
  const asked = Object.fromEntries(given) as Partial<SandboxSettings>; // every key and value was checked above
  const merged = { ...current, ...asked };
  return { ...merged, uniqueNames: (merged.uniqueNames as unknown) === true ? 'exact' : merged.uniqueNames };
}

/** A name as the service stores it under these settings. */
export function storedName(name: string, settings: SandboxSettings): string {
  let stored = settings.trimNames ? name.trim() : name;
  if (settings.caseNames === 'lower') stored = stored.toLowerCase();
  if (settings.caseNames === 'upper') stored = stored.toUpperCase();
  return settings.normaliseNames === 'keep' ? stored : stored.normalize(settings.normaliseNames);
}
