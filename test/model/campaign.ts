// Runs the models of test/model, each from its own test: generated scripts from a seed, or one script from a file.
// ROLECALL_MODEL_RUNS, ROLECALL_MODEL_SEED and ROLECALL_SCRIPT select them; ROLECALL_MODEL_SHRINK=no reports a failure
// without shrinking it.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The seed of the scripts that every `npm test` plays. */
const DEFAULT_SEED = 20_260_301;

export interface Campaign<Script> {
  /** The test file that plays the scripts, for the command that replays one. */
  readonly testFile: string;
  readonly scripts: fc.Arbitrary<Script>;
  /** Rejects when the script shows a defect. */
  readonly play: (script: Script) => Promise<void>;
  /** How many scripts are played unless ROLECALL_MODEL_RUNS is set. */
  readonly defaultRuns: number;
  /** After this time no further script is played and no failure is shrunk further. */
  readonly timeLimitMs: number;
}

export interface NamedScript {
  readonly name: string;
  /** As JSON; the model defines its shape. */
  readonly script: unknown;
}

/** How many scripts to play: ROLECALL_MODEL_RUNS, or the default of the model. */
export function runsOf(defaultRuns: number): number {
  return Number(process.env['ROLECALL_MODEL_RUNS'] ?? defaultRuns);
}

/** The one script to replay alone, or null. */
export function scriptToReplay(): NamedScript | null {
  const file = process.env['ROLECALL_SCRIPT'];
  return file === undefined || file === '' ? null : { name: file, script: readScript(file) };
}

/** The scripts of earlier failures, by name. */
export function regressions(folder: URL): NamedScript[] {
  const path = fileURLToPath(folder);
  return readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => ({ name, script: readScript(join(path, name)) }));
}

/** Plays generated scripts. Rejects with the smallest script found that fails, and with the command that replays it. */
export async function playCampaign<Script>(campaign: Campaign<Script>): Promise<void> {
  const seed = Number(process.env['ROLECALL_MODEL_SEED'] ?? DEFAULT_SEED);
  const endOnFailure = process.env['ROLECALL_MODEL_SHRINK'] === 'no';
  const property = fc.asyncProperty(campaign.scripts, campaign.play);
  const result = await fc.check(property, {
    seed,
    numRuns: runsOf(campaign.defaultRuns),
    endOnFailure,
    interruptAfterTimeLimit: campaign.timeLimitMs,
  });
  if (!result.failed) return;
  const script = result.counterexample?.[0];
  const cause = result.errorInstance;
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new Error(
    `${message}\n\nSeed ${result.seed}, after ${result.numRuns} scripts, shrunk ${result.numShrinks} times, to:\n` +
      `${JSON.stringify(script)}\n\nReplay it with: ${replayCommand(campaign.testFile, script)}`,
    { cause },
  );
}

function replayCommand(testFile: string, script: unknown): string {
  const file = join(mkdtempSync(join(tmpdir(), 'rolecall-script-')), 'script.json');
  writeFileSync(file, JSON.stringify(script, null, 2));
  return `ROLECALL_SCRIPT=${file} npx vitest run --config test/vitest.config.ts ${relative(ROOT, testFile)}`;
}

function readScript(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
