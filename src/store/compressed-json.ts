// The bodies of snapshots and plans: canonical JSON, compressed with gzip, with its digest as the key.
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Entry, KINDS, type ObservedCatalog, type Resource } from '../core/catalog.ts';
import { compareCodePoints } from '../core/names.ts';
import { sha256 } from '../system/digest.ts';
import type { Plan } from '../core/plan.ts';
import type { Database } from './tables.ts';

export const LISTS = [...KINDS, 'resource'] as const;

export interface DigestedList {
  readonly json: string;
  readonly digest: string;
  readonly entries: number;
}

export type DigestedLists = Readonly<Record<(typeof LISTS)[number], DigestedList>>;

/** The JSON of the lists with the service's own fields. Sorted by id, so that the order of a list has no effect. */
export function digestLists(observed: ObservedCatalog): DigestedLists {
  return {
    skill: sealList(observed.skill),
    role: sealList(observed.role),
    resource: sealList(observed.resources),
  };
}

function sealList(items: readonly { readonly id: string; readonly raw: object }[]): DigestedList {
  const sorted = [...items].sort((a, b) => compareCodePoints(a.id, b.id));
  const json = JSON.stringify(sorted.map(({ raw }) => raw));
  return { json, digest: `sha256:${sha256(json)}`, entries: sorted.length };
}

export function compressJson(json: string): Uint8Array {
  return gzipSync(json, { level: 4 });
}

type Raw = Readonly<Record<string, unknown>>;

/** The entries of a snapshot. Snapshots are only written from validated lists, so their type is known. */
export function entriesOf(body: Uint8Array): Entry[] {
  return rows(body).map((raw) => ({
    id: String(raw['_id']),
    name: String(raw['name']),
    ...(typeof raw['createDate'] === 'string' ? { createDate: raw['createDate'] } : {}),
    raw,
  }));
}

export function resourcesOf(body: Uint8Array): Resource[] {
  return rows(body).map((raw) => ({
    id: String(raw['_id']),
    ...(Array.isArray(raw['skillsIds']) ? { skillsIds: raw['skillsIds'].map(String) } : {}),
    ...(typeof raw['roleId'] === 'string' || raw['roleId'] === null ? { roleId: raw['roleId'] } : {}),
    raw,
  }));
}

function rows(body: Uint8Array): Raw[] {
  const value: unknown = JSON.parse(gunzipSync(body).toString('utf8'));
  return Array.isArray(value) ? value.filter((item): item is Raw => typeof item === 'object') : [];
}

export interface PlanBody {
  readonly digest: string;
  readonly json: string;
}

/** The body of a plan without its time: runs that change nothing repeat the same plan, which is stored once. */
export function planBody(plan: Plan): PlanBody {
  const json = JSON.stringify({ ...plan, createdAt: '' } satisfies Plan);
  return { digest: `sha256:${sha256(json)}`, json };
}

/** The plan of a run, whose `createdAt` is empty; null when none was made. */
export async function readPlan(db: Database, digest: string | null): Promise<Plan | null> {
  if (digest === null) return null;
  const bodies = db.selectFrom('plan_bodies').select('body').where('digest', '=', digest);
  const row = await bodies.executeTakeFirst();
  return row === undefined ? null : (JSON.parse(gunzipSync(row.body).toString('utf8')) as Plan); // only planBody writes it
}
