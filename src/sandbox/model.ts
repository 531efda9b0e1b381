// The data of the sandbox: accounts with skills, roles and resources.

export const REGIONS = ['us', 'eu', 'au', 'il'] as const;
/** The four regions of the service, each with its own base address. */
export type Region = (typeof REGIONS)[number];

export const KINDS = ['skill', 'role'] as const;
/** The two kinds of entries that the API can create and delete. */
export type Kind = (typeof KINDS)[number];

export const PERIODS = ['hourly', 'daily', 'monthly', 'yearly'] as const;

/** The salary of a resource. */
export interface Salary {
  readonly amount: number;
  readonly currency: string;
  readonly period: (typeof PERIODS)[number];
}

/** An account and its token. The token alone decides on which account a request acts. */
export interface AccountIdentity {
  readonly name: string;
  readonly id: string;
  readonly token: string;
  readonly region: Region;
}

/** A skill or a role. */
export interface SandboxEntry {
  readonly id: string;
  readonly name: string;
  readonly createDate: string;
}

/** A resource as it is stored. */
export interface ResourceRecord {
  readonly id: string;
  readonly createDate: string;
  readonly roleId: string | null;
  readonly skillsIds: readonly string[];
  readonly workingDays: readonly number[];
  readonly dailyCapacity: number;
  readonly calendarsIds: readonly string[];
  readonly salary: Salary | null;
}

/** A resource as the controls return it: with names beside the ids. An id that no entry has has no name. */
export interface SandboxResource extends ResourceRecord {
  readonly role: string | null;
  readonly skills: readonly string[];
}

/** Everything that an account contains, in the order of insertion. */
export interface AccountContents {
  readonly skills: readonly SandboxEntry[];
  readonly roles: readonly SandboxEntry[];
  readonly resources: readonly SandboxResource[];
}

/** An account with its token and the base address of its region. Other regions reject the token. */
export interface SandboxAccount extends AccountIdentity {
  readonly baseUrl: string;
}
