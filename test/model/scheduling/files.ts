// The configuration files as a script edits them: their content, whether they are valid, and how often they changed.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountName, AccountPart, ServicePart } from './script.ts';

export interface AccountFile {
  readonly part: AccountPart;
  readonly broken: boolean;
  /** The account of the service that it manages, which a rename does not change. */
  readonly remote: AccountName;
  /** A different number for each text. */
  readonly version: number;
}

export interface ServiceFile {
  readonly part: ServicePart;
  readonly broken: boolean;
  readonly version: number;
}

export class Files {
  readonly file: string;
  service: ServiceFile;
  private readonly folder: string;
  private readonly byName = new Map<AccountName, AccountFile>();
  private versions = 0;

  constructor(folder: string, service: ServicePart) {
    this.folder = folder;
    this.file = join(folder, 'config/rolecall.yaml');
    mkdirSync(join(folder, 'config/accounts'), { recursive: true });
    this.service = this.writeService(service, false);
  }

  names(): readonly AccountName[] {
    return [...this.byName.keys()].toSorted();
  }

  account(name: string): AccountFile | undefined {
    return this.byName.get(name as AccountName);
  }

  /** Increases with every change. */
  get version(): number {
    return this.versions;
  }

  setAccount(name: AccountName, file: Omit<AccountFile, 'version'>): void {
    const { part, broken, remote } = file;
    const lines = [
      `baseUrl: https://lane${String(part.lane)}.example.com`,
      `token: { env: TOKEN_${remote} }`,
      `mode: ${part.mode}`,
      `schedule: "${part.schedule}"`,
      `timezone: ${part.timezone}`,
      `jitter: ${String(part.jitterMs)}ms`,
      `policy: { delete: ${part.delete} }`,
      `skills: ${JSON.stringify(part.skills)}`,
      ...(broken ? ['skils: [Ada]'] : []),
    ];
    this.byName.set(name, { ...file, version: this.write(`accounts/${name}.yaml`, lines) });
  }

  setService(part: ServicePart, broken: boolean): void {
    this.service = this.writeService(part, broken);
  }

  remove(name: AccountName): void {
    this.byName.delete(name);
    this.versions += 1;
    rmSync(join(this.folder, 'config/accounts', `${name}.yaml`));
  }

  private writeService(part: ServicePart, broken: boolean): ServiceFile {
    const lines = [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      `daemon: { maxRuns: ${String(part.maxRuns)}, runOnStart: ${String(part.runOnStart)}, shutdownGrace: ${String(part.graceMs)}ms }`,
      'notify: [{ url: "https://hooks.example.com/x" }]',
      ...(broken ? ['notifi: []'] : []),
    ];
    return { part, broken, version: this.write('rolecall.yaml', lines) };
  }

  private write(path: string, lines: readonly string[]): number {
    const file = join(this.folder, 'config', path);
    this.versions += 1;
    // The number makes each text a new one without changing its meaning.
    writeFileSync(`${file}.new`, [...lines, `# ${String(this.versions)}`, ''].join('\n'));
    renameSync(`${file}.new`, file);
    return this.versions;
  }
}
