// The instructions in config/deploy/README.md: the files that they copy exist, and their configuration is valid.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { accountSchema } from '../../../src/config/account-schema.ts';
import { serviceSchema } from '../../../src/config/service-schema.ts';
import { pathOf, textOf } from './operational-file.ts';

const readme = textOf('config/deploy/README.md');

describe('the instructions for a deployment', () => {
  test('name only files that exist', () => {
    const files = [...readme.matchAll(/config\/(?:deploy|monitoring)\/[\w./-]+/g)].map(([file]) => file);
    expect(files.length).toBeGreaterThan(6);
    expect(files.filter((file) => !existsSync(pathOf(file)))).toEqual([]);
  });

  test('show valid configuration', () => {
    const examples = [...readme.matchAll(/```yaml (\S+)\n([^]*?)```/g)];
    expect(examples).toHaveLength(3);
    for (const [, file = '', text = ''] of examples) {
      const schema = file.includes('/accounts/') ? accountSchema : serviceSchema;
      expect([file, schema.safeParse(parse(text)).error?.message]).toEqual([file, undefined]);
    }
  });
});
