// The schema of `api`: limits and waits of the calls to the service.
import { z } from 'zod';
import { duration, pathText, size, setting } from './field-formats.ts';

/** The default of `maxEntries`, which also limits the names of an account while the service file is invalid. */
export const DEFAULT_MAX_ENTRIES = 20_000;

export const apiSchema = z.strictObject({
  concurrency: setting(
    z.int().min(1).max(256).prefault(8),
    'Concurrent requests of one account. Guards the service against one large account.',
    [4],
  ),
  requestsPerSecond: setting(
    z.number().min(0.01).max(10_000).prefault(20),
    'Requests of one account per second. Guards against the rate limit of the service (429).',
    [5],
  ),
  retries: setting(
    z.int().min(0).max(20).prefault(4),
    'How many times a failed request is sent again, with growing random delays. Guards a run against short outages. A create is sent again only when it cannot have happened, or when no list shows it.',
    [2],
  ),
  hostConcurrency: setting(
    z.int().min(1).max(1024).prefault(32),
    'Concurrent requests to one base address, of all accounts together. Guards a region against the sum of its accounts.',
    [16],
  ),
  timeout: setting(
    duration({ min: 1 }).prefault('30s'),
    'Longest time of a complete call, its answer included. Guards a run against an answer that never ends.',
    ['10s'],
  ),
  settle: setting(
    duration({ min: 1 }).prefault('35s'),
    'How long a run waits for a list to show its changes; more than `timeout`. Guards against a second create of an entry whose answer was lost.',
    ['2m'],
  ),
  maxResponseBytes: setting(
    size({ min: 1024, max: 512 * 1024 ** 2 }).prefault('64MiB'),
    'Largest answer, after decompression. Guards the memory of the process.',
    ['16MiB'],
  ),
  maxEntries: setting(
    z.int().min(1).max(1_000_000).prefault(DEFAULT_MAX_ENTRIES),
    'Most skills or roles of one list, and names of one account with its catalogs; of people five times as many. Guards the memory of the process, and the time in which it answers.',
    [50_000],
  ),
  caFile: setting(
    pathText().optional(),
    'PEM file with additional certificate authorities, relative to this file, for a service whose certificate is issued by your own authority.',
    ['ca.pem'],
  ),
});
