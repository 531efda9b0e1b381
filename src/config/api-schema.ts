// The schema of `api`: limits and waits of the calls to the service.
import { z } from 'zod';
import { duration, pathText, size } from './field-formats.ts';

/** The default of `maxEntries`, which also limits the names of an account while the service file is invalid. */
export const DEFAULT_MAX_ENTRIES = 20_000;

export const apiSchema = z.strictObject({
  concurrency: z
    .int()
    .min(1)
    .max(256)
    .prefault(8)
    .meta({
      description: 'Concurrent requests of one account. Guards the service against one large account.',
      examples: [4],
    }),
  requestsPerSecond: z
    .number()
    .min(0.01)
    .max(10_000)
    .prefault(20)
    .meta({
      description: 'Requests of one account per second. Guards against the rate limit of the service (429).',
      examples: [5],
    }),
  retries: z
    .int()
    .min(0)
    .max(20)
    .prefault(4)
    .meta({
      description:
        'How many times a failed request is sent again, with growing random delays. Guards a run against short outages. A create is sent again only when it cannot have happened, or when no list shows it.',
      examples: [2],
    }),
  hostConcurrency: z
    .int()
    .min(1)
    .max(1024)
    .prefault(32)
    .meta({
      description:
        'Concurrent requests to one base address, of all accounts together. Guards a region against the sum of its accounts.',
      examples: [16],
    }),
  timeout: duration({ min: 1 })
    .prefault('30s')
    .meta({
      description:
        'Longest time of a complete call, its answer included. Guards a run against an answer that never ends.',
      examples: ['10s'],
    }),
  settle: duration({ min: 1 })
    .prefault('35s')
    .meta({
      description:
        'How long a run waits for a list to show its changes; more than `timeout`. Guards against a second create of an entry whose answer was lost.',
      examples: ['2m'],
    }),
  maxResponseBytes: size({ min: 1024, max: 512 * 1024 ** 2 })
    .prefault('64MiB')
    .meta({
      description: 'Largest answer, after decompression. Guards the memory of the process.',
      examples: ['16MiB'],
    }),
  maxEntries: z
    .int()
    .min(1)
    .max(1_000_000)
    .prefault(DEFAULT_MAX_ENTRIES)
    .meta({
      description:
        'Most skills or roles of one list, and names of one account with its catalogs; of people five times as many. Guards the memory of the process, and the time in which it answers.',
      examples: [50_000],
    }),
  caFile: pathText()
    .optional()
    .meta({
      description:
        'PEM file with additional certificate authorities, relative to this file, for a service whose certificate is issued by your own authority.',
      examples: ['ca.pem'],
    }),
});
