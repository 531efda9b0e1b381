import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { schemaTexts, writeSchemas } from '../../support/write-schemas.ts';

const root = path.resolve(import.meta.dirname, '../../..');

describe('the published schemas', () => {
  test('are current', async () => {
    expect(await writeSchemas(path.join(root, 'config/schema'), true)).toEqual([]);
  });

  test.each(['rolecall.schema.json', 'account.schema.json', 'catalog.schema.json'])(
    'describe every key of %s',
    (name) => {
      const undescribed: string[] = [];
      const visit = (schema: unknown, at: string): void => {
        if (typeof schema !== 'object' || schema === null) return;
        for (const [key, value] of Object.entries(schema)) {
          if (key === 'properties') {
            for (const [property, inner] of Object.entries(value as Record<string, object>)) {
              if (!('description' in inner)) undescribed.push(`${at}.${property}`);
            }
          }
          visit(value, `${at}.${key}`);
        }
      };
      visit(JSON.parse(schemaTexts().get(name) ?? ''), '');
      expect(undescribed).toEqual([]);
    },
  );
});

test('the examples that come with rolecall are valid', async () => {
  const { service, accounts, issues } = await loadConfiguration(path.join(root, 'config/rolecall.yaml'));
  expect(issues).toEqual([]);
  expect(service).toBeDefined();
  expect(accounts.map(({ name, settings }) => [name, settings?.desired.skill?.length])).toEqual([
    ['acme-eu', 7],
    ['acme-us', 6],
  ]);
});
