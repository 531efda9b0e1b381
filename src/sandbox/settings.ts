// The settings of the sandbox: behaviour that the public description of the service leaves open.
import { z } from 'zod';
import { anInteger, aNumber, aText, parseAs } from './check.ts';

const DOCUMENTED_FIELDS =
  '_id accountId name createDate create_date roleId skillsIds workingDays dailyCapacity calendarsIds salary'.split(
    ' ',
  );

const extraFields = z.record(z.string(), z.unknown()).superRefine((fields, context) => {
  for (const key of DOCUMENTED_FIELDS.filter((each) => Object.hasOwn(fields, each))) {
    context.addIssue(`"${key}" is a documented field; choose another name for the extra field`);
  }
});

const success = anInteger(200, 299);
const anyStatus = anInteger(200, 599);

/** Every setting with its default. */
export const settingsSchema = z.strictObject({
  /** The status of a successful create: any 2xx. 204 and 205 are sent without a body. */
  createStatus: success.default(201),
  /** The status of a list of skills or roles: any 2xx. The list of resources always has 200. */
  listStatus: success.default(200),
  /** Whether a second entry with the same name and kind is refused; `caseless` ignores case. */
  uniqueNames: z
    .literal([false, true, 'exact', 'caseless'])
    .transform((value) => (value === true ? 'exact' : value))
    .default(false),
  /** The status of that refusal. Like the status of every error, any from 200 to 599. */
  duplicateStatus: anyStatus.default(409),
  /** Whether white space at the ends of a name is removed before it is stored. */
  trimNames: z.boolean().default(false),
  caseNames: z.literal(['keep', 'lower', 'upper']).default('keep'),
  /** The Unicode form in which names are stored. */
  normaliseNames: z.literal(['keep', 'NFC', 'NFD', 'NFKC']).default('keep'),
  /** In code points, like `maxNameLength`. A name outside these limits is a validation error. */
  minNameLength: anInteger(0).default(1),
  maxNameLength: anInteger(1).nullable().default(null),
  /** The status of a delete of an unknown id. With a 2xx the response is that of a successful delete. */
  unknownIdStatus: anyStatus.default(404),
  /** The status with which every delete is refused; null: deletes are allowed. */
  deleteRefusalStatus: anyStatus.nullable().default(null),
  validationStatus: anyStatus.default(422),
  /** The status for a wrong token. */
  unauthorizedStatus: anyStatus.default(401),
  /** The status for a missing token; null: the same as for a wrong one. */
  missingTokenStatus: anyStatus.nullable().default(null),
  /** The string in the response of a delete. */
  deleteString: z.string().default('Successfully deleted'),
  /** How long the lists of skills and roles hide a create and still show a delete. Controls take effect at once. */
  listDelayMs: aNumber(0).default(0),
  /** Timestamps as `…Z`, or without a zone. */
  timestampsWithZone: z.boolean().default(true),
  /**
   * Lists omit optional fields: `createDate` and `accountId` of skills and roles; of resources `create_date`, and
   * `roleId`, `skillsIds`, `calendarsIds` and `salary` if they are empty. Responses of creates stay complete.
   */
  omitOptionalFields: z.boolean().default(false),
  listOrder: z.literal(['insertion', 'shuffled']).default('insertion'),
  /** A limit for each account: a bucket of `burst` requests that refills at a constant rate. */
  rateLimit: z
    .strictObject({
      requestsPerSecond: aNumber(0.001),
      burst: anInteger(1),
      /** The `Retry-After` header of the 429: whole seconds, an HTTP date, or no header. */
      retryAfter: z.literal(['seconds', 'date', 'none']),
    })
    .nullable()
    .default(null),
  /** A delay of every response. The effect comes first: a request takes effect even if its client stops waiting. */
  latencyMs: aNumber(0).default(0),
  /** Account name → the `accountId` in its lists and responses of creates, instead of the real one. */
  listedAccountId: z.record(z.string(), aText).default({}),
  /** Undocumented fields, added to every skill, role and resource. */
  extraFields: extraFields.default({}),
  /** Whether responses of 1 KiB or more are gzipped for clients that accept it. */
  compress: z.boolean().default(true),
  /** The seed of the shuffled order and of the probabilities of faults. */
  randomSeed: anInteger(0).default(1),
});

/** How the sandbox behaves. `src/sandbox/README.md` lists all settings. */
export type SandboxSettings = Readonly<z.output<typeof settingsSchema>>;

export const DEFAULT_SETTINGS: SandboxSettings = settingsSchema.parse({});

/** The current settings with the given changes. Throws a `SandboxError` that names every invalid or unknown setting. */
export function changeSettings(current: SandboxSettings, changes: object): SandboxSettings {
  return parseAs(settingsSchema, { ...current, ...changes }, 'settings');
}

/** A generator of numbers from 0 (included) to 1 (excluded) that `randomSeed` determines: mulberry32. */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
