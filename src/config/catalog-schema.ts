// The schemas of the lists of skills and roles, and of a catalog, which has nothing else.
import { z } from 'zod';
import type { Kind } from '../core/catalog.ts';
import { nameReference, nameText } from './field-formats.ts';

const skills = entryList({ kind: 'skill', name: 'Kubernetes', formerly: 'K8s' });
const roles = entryList({ kind: 'role', name: 'Backend engineer', formerly: 'Backend developer' });

/** A shared list of skills and roles: for the JSON Schema that editors use, and to find unknown keys. */
export const catalogSchema = z.strictObject({ skills, roles }).meta({
  title: 'rolecall catalog',
  description: 'Lists of skills and roles that accounts share by `extends`.',
});

/** The schema of a list of entries; `name` and `formerly` are its examples. */
function entryList({ kind, name, formerly }: { kind: Kind; name: string; formerly: string }) {
  const entry = z.strictObject({
    name: nameText().meta({ description: `The name of the ${kind}.`, examples: [name] }),
    formerly: z
      .array(nameReference())
      .optional()
      .meta({
        description:
          'Earlier names of the entry; marks a rename. Guards the people who have the old entry: it is deleted when the last of them has moved.',
        examples: [[formerly]],
      }),
  });
  return z
    .array(z.union([nameText(), entry]))
    .optional()
    .meta({
      description: `Every ${kind} that the account must have. Omitted: ${kind}s are never changed. An empty list: no ${kind} may remain.`,
      examples: [[{ name, formerly: [formerly] }], [name]],
    });
}
