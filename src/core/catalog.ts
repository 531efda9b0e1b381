// The data types of rolecall: what a file asks for (desired) and what the service lists (observed).

/** The kinds of entry that rolecall manages, in the order in which every plan, report and request treats them. */
export const KINDS = ['skill', 'role'] as const;
export type Kind = (typeof KINDS)[number];

/** The key under which a file lists the entries of each kind. */
export const LIST_KEYS = { skill: 'skills', role: 'roles' } as const satisfies Record<Kind, string>;

/** What can be done to an entry, in the order in which a run does it. */
export const ACTIONS = ['create', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

/** A skill or a role as the service lists it. */
export interface Entry {
  readonly id: string;
  /** As the service lists it, not normalised. Of an `_id` that is listed under several names, the smallest. */
  readonly name: string;
  /** The other names of an `_id` that is listed under several names, sorted. */
  readonly otherNames?: readonly string[];
  readonly accountId?: string;
  /** An opaque string; timestampSeconds derives an order from it where possible. */
  readonly createDate?: string;
  /** The object as listed, with unknown fields, for snapshots. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A person, as the service lists them; the salary was dropped before this object was made. */
export interface Resource {
  readonly id: string;
  readonly accountId?: string;
  /** Absent when the service left the field out, which is different from an empty list. */
  readonly skillsIds?: readonly string[];
  /** Absent when left out; null when the service returned null. */
  readonly roleId?: string | null;
  /** Further roles of a person who was listed twice with different ones. */
  readonly otherRoleIds?: readonly string[];
  /** Documented fields only, without the salary, for snapshots. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A name that a file asks for, with the names that it used to have. Names are NFC-normalised. */
export interface DesiredEntry {
  readonly name: string;
  readonly formerly: readonly string[];
}

/** A line of `allowedDeletes`: one entry that may be deleted although people have it. */
export interface AllowedEntry {
  readonly kind: Kind;
  readonly name: string;
  /** The last day, `YYYY-MM-DD` in UTC. */
  readonly expires: string;
}

/** A line of `allowedDeletes`: one run may delete this many, whatever the limits are. */
export interface AllowedRun {
  readonly atMost: number;
  readonly expires: string;
}

export type AllowedDelete = AllowedEntry | AllowedRun;

/** What an account's file asks for. A kind that is undefined is not managed and never touched. */
export interface DesiredCatalog extends Readonly<Partial<Record<Kind, readonly DesiredEntry[]>>> {
  readonly allowedDeletes: readonly AllowedDelete[];
  /** The names that the account must not have, by kind. */
  readonly absent?: Readonly<Partial<Record<Kind, readonly string[]>>>;
}

/** What the three lists showed at one moment. An `_id` listed twice is here once. */
export interface ObservedCatalog extends Readonly<Record<Kind, readonly Entry[]>> {
  readonly resources: readonly Resource[];
  /** Oddities of the lists that a report names: repeated ids, unknown fields of resources. */
  readonly warnings: readonly Warning[];
}

/** Something that an operator should know and that is neither a difference nor a failure. `code` is stable. */
export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly kind?: Kind;
  readonly name?: string;
  readonly remoteId?: string;
}

/** The policy of an account, merged with the defaults. */
export interface Policy {
  readonly delete: 'never' | 'unused' | 'always';
  readonly ownership: 'all' | 'managed' | 'listed';
  /** Within 24 hours. */
  readonly maxDeletes: number;
  /** Of the entries of a kind. */
  readonly maxDeletePercent: number;
  /** Whether entries may be deleted although the service lists no people at all. */
  readonly allowNoPeople: boolean;
  readonly protect: readonly string[];
  readonly duplicates: 'report' | 'remove-unused';
  readonly unusedForMs: number;
  readonly freeze: readonly FreezeWindow[];
}

/** A window in which nothing is written: between two instants, or for a while after each tick of a cron line. */
export type FreezeWindow =
  { readonly from: string; readonly to: string } | { readonly cron: string; readonly forMs: number };

/** The entry that a line released in an applied run, by the journal. */
export interface ReleasedEntry {
  readonly kind: Kind;
  readonly remoteId: string;
  /** The line, as `allowanceText` writes it. */
  readonly allowance: string;
  /** The run that deleted the entry; null while none has. */
  readonly deletedByRun: string | null;
}
