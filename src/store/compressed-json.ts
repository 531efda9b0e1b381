// The bodies of snapshots: canonical JSON, compressed with gzip, with its digest as the key.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import { type Entry, KINDS, type ObservedCatalog, type Resource } from '../core/catalog.ts';
import { compareCodePoints } from '../core/names.ts';
import { startTurns, type Turns } from '../system/turns.ts';

export const LISTS = [...KINDS, 'resource'] as const;

export interface DigestedList {
  readonly json: string;
  readonly digest: string;
  readonly entries: number;
}

export type DigestedLists = Readonly<Record<(typeof LISTS)[number], DigestedList>>;

/** The JSON of the lists with the service's own fields. Sorted by id, so that the order of a list has no effect. */
export async function digestLists(observed: ObservedCatalog): Promise<DigestedLists> {
  const turns = startTurns();
  return {
    skill: await sealList(observed.skill, turns),
    role: await sealList(observed.role, turns),
    resource: await sealList(observed.resources, turns),
  };
}

async function sealList(
  items: readonly { readonly id: string; readonly raw: object }[],
  turns: Turns,
): Promise<DigestedList> {
  const sorted = [...items].sort((a, b) => compareCodePoints(a.id, b.id));
  const hash = createHash('sha256');
  let json = '';
  for (let at = 0; at < sorted.length || at === 0; at += OBJECTS_AT_A_TIME) {
    if (turns.isOver()) await turns.next();
    const objects = sorted.slice(at, at + OBJECTS_AT_A_TIME).map((item) => item.raw);
    const piece = `${at === 0 ? '[' : ','}${JSON.stringify(objects).slice(1, -1)}`;
    hash.update(piece);
    json += piece;
  }
  const digest = `sha256:${hash.update(']').digest('hex')}`;
  return { json: `${json}]`, digest, entries: sorted.length };
}

/** Converting this many people to JSON takes about 10 ms. */
const OBJECTS_AT_A_TIME = 2000;

/** Larger texts are compressed and decompressed in another thread, so that other work runs meanwhile. */
const LARGE_BYTES = 256 * 1024;
const OPTIONS = { level: 4 };

export async function compressJson(json: string): Promise<Uint8Array> {
  return json.length < LARGE_BYTES ? gzipSync(json, OPTIONS) : await promisify(gzip)(json, OPTIONS);
}

export async function decompress(body: Uint8Array): Promise<Buffer> {
  // A list is about ten times as large as its compressed form.
  return body.length * 10 < LARGE_BYTES ? gunzipSync(body) : await promisify(gunzip)(body);
}

type Raw = Readonly<Record<string, unknown>>;

/** The entries of a snapshot. Snapshots are only written from validated lists, so their type is known. */
export async function entriesOf(body: Uint8Array): Promise<Entry[]> {
  return (await rows(body)).map((raw) => ({
    id: String(raw['_id']),
    name: String(raw['name']),
    ...(typeof raw['createDate'] === 'string' ? { createDate: raw['createDate'] } : {}),
    raw,
  }));
}

export async function resourcesOf(body: Uint8Array): Promise<Resource[]> {
  return (await rows(body)).map((raw) => ({
    id: String(raw['_id']),
    ...(Array.isArray(raw['skillsIds']) ? { skillsIds: raw['skillsIds'].map(String) } : {}),
    ...(typeof raw['roleId'] === 'string' || raw['roleId'] === null ? { roleId: raw['roleId'] } : {}),
    raw,
  }));
}

async function rows(body: Uint8Array): Promise<Raw[]> {
  const value: unknown = JSON.parse((await decompress(body)).toString('utf8'));
  return Array.isArray(value) ? value.filter((item): item is Raw => typeof item === 'object') : [];
}
