// The tokens of the HTTP interface, with their names and roles.
import { SecretError } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import type { HttpRole, SecretRef, ServiceSettings } from '../../core/settings.ts';

/** The name and role of a token, in the log and on the pages. */
export interface TokenHolder {
  readonly name: string;
  readonly role: HttpRole;
}

export interface HttpToken extends TokenHolder {
  readonly token: Secret;
}

/** A shorter token can be guessed by trying. */
const MIN_TOKEN_LENGTH = 16;

/** All tokens of the settings. Throws SecretError for one that is missing, too short, or used twice. */
export async function readTokens(
  { http }: Pick<ServiceSettings, 'http'>,
  resolveSecret: (ref: SecretRef, what: string) => Promise<Secret>,
): Promise<HttpToken[]> {
  const configured = [
    ...(http.token === undefined
      ? []
      : [{ name: 'http', role: 'operate' as const, token: http.token, what: 'http.token' }]),
    ...http.tokens.map((each) => ({ ...each, what: `the token ${each.name} of http.tokens` })),
  ];
  const tokens: HttpToken[] = [];
  for (const { name, role, token: ref, what } of configured) {
    const token = await resolveSecret(ref, what);
    if (token.reveal().length < MIN_TOKEN_LENGTH) {
      throw new SecretError(
        `${what} has fewer than ${MIN_TOKEN_LENGTH} characters and can be guessed; use a longer one, such as the output of \`openssl rand -hex 32\``,
      );
    }
    const other = tokens.find((each) => each.token.reveal() === token.reveal());
    if (other !== undefined) {
      throw new SecretError(`${what} is the same as the token ${other.name}; give each name its own token`);
    }
    tokens.push({ name, role, token });
  }
  return tokens;
}
