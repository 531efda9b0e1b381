// A secret that somebody wrote into a file by mistake is never repeated in a message, wherever it is.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { CANARY, GIT_CANARY, HOOK_CANARY, leaksOf } from '../../support/canary.ts';
import { workspace } from './workspace.ts';

const ADDRESS = 'baseUrl: https://planning.example.com';
const REFERENCE = 'token: { env: ACME_TOKEN }';
const quoted = JSON.stringify(CANARY);
const inUrl = encodeURIComponent(CANARY);

async function messagesOf(files: {
  readonly service?: string;
  readonly account?: string;
}): Promise<string[]> {
  const folder = workspace({
    'config/rolecall.yaml': files.service ?? '{}',
    'config/accounts/acme.yaml': files.account ?? `${ADDRESS}\n${REFERENCE}\n`,
  });
  const { issues } = await loadConfiguration(join(folder, 'config/rolecall.yaml'));
  return issues.map(({ message }) => message);
}

const IN_ACCOUNT: Readonly<Record<string, string>> = {
  'the token itself': `token: ${quoted}`,
  'the token in a list': `token: [${quoted}]`,
  'the token in braces': `token: { ${quoted} }`,
  'the token as a key': `token: { ${quoted}: env }`,
  'the token under another key': `token: { value: ${quoted} }`,
  'the token as the name of a variable': `token: { env: ${quoted} }`,
  'the token as the name of a variable and of a file': `token: { env: ${quoted}, file: ${quoted} }`,
  'the token after its scheme': `token: Bearer ${quoted}`,
  'the token in several lines': `token: |\n  ${CANARY}\n`,
  'the token twice': `${REFERENCE}\ntoken: ${quoted}`,
  'the token with an anchor': `token: &token ${quoted}\naccountId: *token`,
  'the token with a tag': `token: !secret ${quoted}`,
  'the token in quotes that are not closed': `token: "${CANARY.replace('"', '')}`,
  'the token after a tab': `\ttoken: ${quoted}`,
  'the token bare': `token: ${CANARY}: x`,
  'the token as an alias': `token: *${CANARY}`,
  'the token after an at sign': `token: @${CANARY}`,
  'the token after a quoted text': `token: "x" ${CANARY}`,
  'the token after a bar': `token: |${CANARY}`,
  'the token after a mistyped key': `tokn: ${quoted}`,
};

const ADDRESSES: Readonly<Record<string, string>> = {
  'a password': `https://me:${inUrl}@planning.example.com`,
  'a password without a user': `https://:${inUrl}@planning.example.com`,
  'a user': `https://${inUrl}@planning.example.com`,
  'a bare password': `https://me:${CANARY}@planning.example.com`,
  'a query': `https://planning.example.com/?token=${inUrl}`,
  'a fragment': `https://planning.example.com/#${inUrl}`,
  'another scheme': `ftp://me:${inUrl}@planning.example.com`,
  'no scheme': `me:${inUrl}@planning.example.com`,
  'a scheme of one slash': `https:/me:${inUrl}@planning.example.com`,
};

const webhook = `https://hooks.example.com/${encodeURIComponent(HOOK_CANARY)}`;
const hook = JSON.stringify(HOOK_CANARY);
const gitInUrl = encodeURIComponent(GIT_CANARY);
const gitSource = (url: string, more = ''): string =>
  `source: { git: { url: ${JSON.stringify(url)}${more} } }`;

const IN_SERVICE: Readonly<Record<string, string>> = {
  'the token of the HTTP interface': `http: { token: ${quoted} }`,
  'the token of the HTTP interface under another key': `http: { token: { is: ${quoted} } }`,
  'the token of the HTTP interface as the name of a variable': `http: { token: { env: ${quoted} } }`,
  'a webhook’s address of another scheme': `notify: [{ url: ${JSON.stringify(webhook.replace('https', 'slack'))} }]`,
  'a webhook’s address with a password': `notify: [{ url: "https://me:${encodeURIComponent(HOOK_CANARY)}@hooks.example.com" }]`,
  'a webhook’s address beside a wrong format': `notify: [{ url: ${webhook}, format: ${hook} }]`,
  'a webhook’s address in place of the webhook': `notify: [${webhook}]`,
  'a webhook’s address in place of the list': `notify: ${webhook} x`,
  'a webhook’s secret': `notify: [{ url: https://hooks.example.com/x, secret: ${hook} }]`,
  'a webhook’s secret under another key': `notify: [{ url: https://hooks.example.com/x, secret: { is: ${hook} } }]`,
  'a repository’s password': gitSource(`https://me:${gitInUrl}@git.example.com/a.git`),
  'a repository’s token': gitSource(`https://${gitInUrl}@git.example.com/a.git`),
  'a repository’s password in ssh': gitSource(`ssh://git:${gitInUrl}@git.example.com/a.git`),
  'a repository’s password in a bare address': gitSource(`http://me:${gitInUrl}@git.example.com/a.git`),
  'a repository’s password in an odd address': gitSource(`ext::sh -c ${GIT_CANARY}`),
  'the credentials themselves': gitSource(
    'https://git.example.com/a.git',
    `, credentials: ${JSON.stringify(GIT_CANARY)}`,
  ),
  'the credentials under another key': gitSource(
    'https://git.example.com/a.git',
    `, credentials: { password: ${JSON.stringify(GIT_CANARY)} }`,
  ),
};

describe('a secret in a file is refused and not repeated', () => {
  it.each(Object.entries(IN_ACCOUNT))('when it is %s', async (_, lines) => {
    const messages = await messagesOf({ account: `${ADDRESS}\n${lines}\n` });
    expect(messages).not.toEqual([]);
    expect(leaksOf(messages.join('\n'))).toEqual([]);
  });

  it.each(Object.entries(ADDRESSES))('when an account’s address has %s', async (_, address) => {
    const messages = await messagesOf({ account: `baseUrl: ${JSON.stringify(address)}\n${REFERENCE}\n` });
    expect(messages).not.toEqual([]);
    expect(leaksOf(messages.join('\n'))).toEqual([]);
  });

  it.each(Object.entries(ADDRESSES))('when a region’s address has %s', async (_, address) => {
    const messages = await messagesOf({
      service: `regions: { eu: ${JSON.stringify(address)} }`,
      account: `region: eu\n${REFERENCE}\n`,
    });
    expect(messages).not.toEqual([]);
    expect(leaksOf(messages.join('\n'))).toEqual([]);
  });

  it.each(Object.entries(IN_SERVICE))('when it is %s', async (_, service) => {
    const messages = await messagesOf({ service });
    expect(messages).not.toEqual([]);
    expect(leaksOf(messages.join('\n'))).toEqual([]);
  });
});
