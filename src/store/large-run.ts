// Detects runs that are too large to be read at once, and reads their plans in parts.
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { sql } from 'kysely';
import type { Plan } from '../core/plan.ts';
import { decompressHead } from './compressed-json.ts';
import type { Database } from './tables.ts';

/** Parsing this much JSON and rendering it takes about 100 ms on a slow machine. */
const LARGE_BYTES = 512 * 1024;
const LARGE_OPERATIONS = 2500;
/** Reading larger lists of people, to find who had what the run deleted, would block the process for 100 ms each. */
const LARGE_LIST = 5000;

interface Sizes {
  /** The bytes of the compressed plan. */
  readonly packed: number | null;
  /** The last bytes of a small compressed plan: gzip ends with the length of the original text. */
  readonly trailer: Uint8Array | null;
  readonly warnings: number | null;
  /** 1 if it has many operations, or if it deleted something and its list of people is large. */
  readonly operations: number;
}

/** Whether the run's plan, warnings or operations, or the lists that its report needs, are large. Reads only their sizes. */
export async function isLargeRun(db: Database, runId: string): Promise<boolean> {
  const { rows } = await sql<Sizes>`
    select length(body) as packed, case when length(body) <= ${LARGE_BYTES} then substr(body, length(body) - 3) end as trailer,
      length(warnings) as warnings,
      case when exists (select 1 from operations where run_id = runs.id limit 1 offset ${LARGE_OPERATIONS})
          or (deleted > 0 and exists (select 1 from snapshots where run_id = runs.id and kind = 'resource'
            and entries > ${LARGE_LIST}))
        then 1 else 0 end as operations
    from runs left join plan_bodies on plan_bodies.digest = runs.plan_body
    where runs.id = ${runId}`.execute(db);
  const [sizes] = rows;
  if (sizes === undefined) return false;
  const { packed, trailer, warnings, operations } = sizes;
  const unpacked = trailer?.length === 4 ? Buffer.from(trailer).readUInt32LE() : (packed ?? 0);
  return unpacked > LARGE_BYTES || (warnings ?? 0) > LARGE_BYTES || operations === 1;
}

type PlanHead = Pick<Plan, 'observedDigest' | 'summary'>;

/** The first fields of a run's plan; null when it has none. Throws when its body is damaged. */
export async function readPlanHead(db: Database, planBody: string | null): Promise<PlanHead | null> {
  const packed = await packedPlanHead(db, planBody);
  return packed === null ? null : parsePlanHead(packed);
}

/** The first bytes of a run's compressed plan; null when it has none. */
export async function packedPlanHead(db: Database, planBody: string | null): Promise<Uint8Array | null> {
  if (planBody === null) return null;
  const stored = await db
    .selectFrom('plan_bodies')
    .select(sql<Uint8Array>`substr(body, 1, ${HEAD_BYTES})`.as('head'))
    .where('digest', '=', planBody)
    .executeTakeFirst();
  return stored?.head ?? null;
}

/** Throws when the bytes are damaged. */
export function parsePlanHead(packed: Uint8Array): PlanHead | null {
  const head = decompressHead(packed);
  // The lists are a plan's last fields. In a JSON string these quotation marks would be escaped.
  const end = head.indexOf(LISTS);
  if (end === -1) return null;
  // recordPlan wrote it from a Plan, so the type is known.
  return JSON.parse(`${head.slice(0, end)}}`) as PlanHead;
}

/** The fields before a plan's lists have at most a few thousand characters. */
const HEAD_BYTES = 16_384;
const LISTS = ',"operations":[';
const WITHOUT_TIME = '"createdAt":""';

/** The JSON of a compressed plan in parts, with the time of the run, because a plan is stored without its time. */
export async function* planText(body: Uint8Array, createdAt: string): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of Readable.from([body]).pipe(createGunzip({ chunkSize: 65_536 }))) {
    const bytes = piece as Buffer; // a stream without an encoding yields buffers
    const at = isFirst ? bytes.indexOf(WITHOUT_TIME) : -1;
    isFirst = false;
    if (at === -1) {
      yield bytes;
      continue;
    }
    yield bytes.subarray(0, at);
    yield Buffer.from(`"createdAt":${JSON.stringify(createdAt)}`);
    yield bytes.subarray(at + WITHOUT_TIME.length);
  }
}
