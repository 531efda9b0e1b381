// What the sandbox holds: accounts with skills, roles and resources (planning-service-api.md, section 2).

export const REGIONS = ['us', 'eu', 'au', 'il'] as const;
/** The four regions in which the service is deployed (section 1). */
export type Region = (typeof REGIONS)[number];

export const KINDS = ['skill', 'role'] as const;
/** What can be created and deleted. */
export type Kind = (typeof KINDS)[number];

export const PERIODS = ['hourly', 'daily', 'monthly', 'yearly'] as const;

/** Section 2.2. */
export interface Salary {
  readonly amount: number;
  readonly currency: string;
  readonly period: (typeof PERIODS)[number];
}

/** Who a token belongs to (section 1: the token decides the account). */
export interface AccountIdentity {
  readonly name: string;
  readonly id: string;
  readonly token: string;
  readonly region: Region;
}

/** A skill or a role (sections 2.3 and 2.4). */
export interface SandboxEntry {
  readonly id: string;
  readonly name: string;
  readonly createDate: string;
}

/** A resource as it is stored (section 2.1). */
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

/** A resource as the controls show it: with the names beside the ids (a dangling id has none). */
export interface SandboxResource extends ResourceRecord {
  readonly role: string | null;
  readonly skills: readonly string[];
}

/** Everything that one account holds, in the order of insertion. */
export interface AccountContents {
  readonly skills: readonly SandboxEntry[];
  readonly roles: readonly SandboxEntry[];
  readonly resources: readonly SandboxResource[];
}
