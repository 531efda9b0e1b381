// Writes entries and resources as the JSON of the API.

import type { AccountIdentity, ResourceRecord, SandboxEntry } from './model.ts';
import type { SandboxSettings } from './settings.ts';

function timestamp(value: string, settings: SandboxSettings): string {
  return settings.timestampsWithZone ? value : value.replace(/(?:Z|[+-]\d\d:?\d\d)$/, '');
}

function accountId(account: AccountIdentity, settings: SandboxSettings): string {
  return Object.hasOwn(settings.listedAccountId, account.name)
    ? (settings.listedAccountId[account.name] ?? account.id)
    : account.id;
}

/** A skill or role as JSON. `complete`: optional fields are always included, as in the response of a create. */
export function entryJson(
  entry: SandboxEntry,
  account: AccountIdentity,
  settings: SandboxSettings,
  complete: boolean,
): string {
  const lean = settings.omitOptionalFields && !complete;
  return JSON.stringify({
    ...(lean ? {} : { accountId: accountId(account, settings) }),
    name: entry.name,
    _id: entry.id,
    ...(lean ? {} : { createDate: timestamp(entry.createDate, settings) }),
    ...settings.extraFields,
  });
}

/** A resource as JSON. Its date is `create_date`; skills and roles have `createDate`. */
export function resourceJson(
  person: ResourceRecord,
  account: AccountIdentity,
  settings: SandboxSettings,
): string {
  const lean = settings.omitOptionalFields;
  return JSON.stringify({
    _id: person.id,
    accountId: accountId(account, settings),
    ...(lean ? {} : { create_date: timestamp(person.createDate, settings) }),
    ...(lean && person.roleId === null ? {} : { roleId: person.roleId }),
    ...(lean && person.skillsIds.length === 0 ? {} : { skillsIds: person.skillsIds }),
    workingDays: person.workingDays,
    dailyCapacity: person.dailyCapacity,
    ...(lean && person.calendarsIds.length === 0 ? {} : { calendarsIds: person.calendarsIds }),
    ...(lean && person.salary === null ? {} : { salary: person.salary }),
    ...settings.extraFields,
  });
}
