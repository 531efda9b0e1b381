// The files of `init --ci`: the pipelines that plan each proposed change and apply what is merged, and what they need.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { AccountSettings } from '../core/settings.ts';

export const PIPELINES = ['github', 'gitlab'] as const;
export type Pipeline = (typeof PIPELINES)[number];

/** The templates by the places of their copies. */
const FILES: Readonly<Record<Pipeline, Readonly<Record<string, string>>>> = {
  github: {
    '.github/workflows/rolecall-plan.yaml': 'github/plan.yaml',
    '.github/workflows/rolecall-apply.yaml': 'github/apply.yaml',
    '.github/workflows/rolecall-fetch.yaml': 'github/fetch.yaml',
    '.github/actions/rolecall/action.yaml': 'github/install/action.yaml',
  },
  gitlab: { '.gitlab-ci.yml': 'gitlab/.gitlab-ci.yml' },
};

/** Where the store is, which must not be in git. */
const IGNORED = 'data/';

/** The lines of a template that pass the tokens of example accounts. */
const EXAMPLE = /(?:^( *)(?:# )?ACME_(?:EU|US)_TOKEN: \$\{\{ secrets\.\w+ \}\}\n)+/gmu;

export interface PipelineRequest {
  readonly pipeline: Pipeline;
  readonly version: string;
  /** The service file, absolute. */
  readonly configFile: string;
  readonly accounts: readonly Pick<AccountSettings, 'token'>[];
}

/** The root of the repository: the folder with `.git` at or above the configuration, else the project's folder. */
function rootOf(configFile: string): string {
  const folder = path.dirname(configFile);
  for (let at = folder; at !== path.dirname(at); at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
  }
  return path.basename(folder) === 'config' ? path.dirname(folder) : folder;
}

/** What to do for the workflows that exist and do not pass this variable. GitLab passes all variables. */
export function missingToken(configFile: string, name: string): string[] {
  const places = Object.keys(FILES.github).filter((place) => /plan|apply/u.test(place));
  return places.flatMap((place) => {
    const file = path.join(rootOf(path.resolve(configFile)), place);
    if (!existsSync(file) || readFileSync(file, 'utf8').includes(` ${name}: `)) return [];
    return [
      `add \`${name}: \${{ secrets.${name} }}\` to ${place}, beside the other tokens, and create this secret`,
    ];
  });
}

/** The texts by absolute paths, and what a person has to do in the settings of the repository. */
export function pipelineFiles({ pipeline, version, configFile, accounts }: PipelineRequest): {
  readonly texts: ReadonlyMap<string, string>;
  readonly steps: readonly string[];
} {
  const root = rootOf(configFile);
  const config = path.relative(root, configFile).split(path.sep).join('/');
  const below = config.slice(0, config.lastIndexOf('/') + 1);
  const names = accounts.flatMap(({ token }) => ('env' in token ? [token.env] : []));
  const variables = [...new Set(names)].toSorted();
  const texts = new Map<string, string>();
  for (const [place, template] of Object.entries(FILES[pipeline])) {
    const text = readFileSync(new URL(`../config/deploy/ci/${template}`, import.meta.url), 'utf8');
    const own = text
      .replaceAll('v0.1.0', `v${version}`)
      .replaceAll('config/rolecall.yaml', config)
      .replaceAll(/config\/\*\*(?:\/\*)?/gu, (glob) => glob.replace('config/', below))
      .replaceAll(EXAMPLE, (_line, indent: string) =>
        variables.map((name) => `${indent}${name}: \${{ secrets.${name} }}\n`).join(''),
      );
    texts.set(path.join(root, place), own);
  }
  const ignore = path.join(root, '.gitignore');
  const ignored = existsSync(ignore) ? readFileSync(ignore, 'utf8').split(/\r?\n/u) : null;
  if (ignored === null) texts.set(ignore, `# The journal of rolecall: it names people.\n${IGNORED}\n`);
  const isGithub = pipeline === 'github';
  const where = isGithub ? 'secret' : 'masked CI/CD variable';
  const job = isGithub ? 'rolecall-apply.yaml' : 'the job `rolecall apply`';
  return {
    texts,
    steps: [
      ...(ignored?.includes(IGNORED) === false ? [`add ${IGNORED} to .gitignore: it names people`] : []),
      ...variables.map((name) => `create the ${where} ${name}, with the token of its account`),
      `${job} applies each merge without a question, in the environment \`rolecall\`, which can require a reviewer`,
      `beside a daemon create the variable ROLECALL_SERVER and the ${where} ROLECALL_HTTP_TOKEN instead: the daemon then makes the plans, and ${job} does nothing`,
      `create the ${where} ROLECALL_OPERATE_TOKEN too, if that daemon must fetch each merge at once`,
      ...(!isGithub
        ? [`create the ${where} ROLECALL_NOTE_TOKEN, which writes the report into the merge request`]
        : []),
      `replace your-organisation/rolecall by the repository from which the pipelines install rolecall, and v${version} by a tag that it has`,
    ],
  };
}
