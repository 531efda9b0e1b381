// What is wrong with an account's approvals beyond their shape (contract, sections 2 and 4).
import type { DesiredCatalog } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { approvedDeleteSchema } from './account-schema.ts';
import { locate, spotOf } from './node-lookup.ts';
import { type YamlFile, quoted } from './yaml-file.ts';

/** Errors: an approval for a desired name, or one given twice. Warnings: one that has expired, or can have no effect. */
export function approvalIssues(
  file: YamlFile,
  raw: Readonly<Record<string, unknown>>,
  desired: DesiredCatalog,
  today: string,
): readonly ConfigIssue[] {
  const written = raw['approvedDeletes'];
  if (!Array.isArray(written)) return [];
  const issues: ConfigIssue[] = [];
  const desiredNames = {
    skill: new Set(desired.skill?.map(({ name }) => name)),
    role: new Set(desired.role?.map(({ name }) => name)),
  };
  const seen = new Set<string>();
  for (const [index, item] of written.entries()) {
    // Each is judged alone: a broken neighbour hides nothing.
    const approval = approvedDeleteSchema.safeParse(item).data;
    if (approval === undefined) continue;
    const { kind, name, expires } = approval;
    const report = (key: string, message: string, severity: ConfigIssue['severity'] = 'error') =>
      issues.push(file.issue(spotOf(locate(file, ['approvedDeletes', index, key])), message, severity));
    const label = `the ${kind} ${quoted(name)}`;
    if (seen.has(`${kind} ${name}`)) report('name', `${label} is approved twice; keep one of them`);
    seen.add(`${kind} ${name}`);
    if (desiredNames[kind].has(name)) {
      report('name', `${label} is both desired and in \`approvedDeletes\`; keep one of them`);
    }
    if (desired[kind] === undefined) {
      report(
        'kind',
        `${label} is approved, but ${kind}s are left out of this account and never touched; take the approval out`,
        'warning',
      );
    }
    if (expires !== undefined && expires < today) {
      report(
        'expires',
        `the approval for ${label} expired on ${expires}; renew it or take it out`,
        'warning',
      );
    }
  }
  return issues;
}
