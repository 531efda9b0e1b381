// How a browser signs in and out: it sends a token once, and has a session from then on. The signed cookie contains the
// session, so that it is valid on every process that uses the same store, and after a restart. No script can read it.
import { createHmac, randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { timeout } from 'hono/timeout';
import type { CookieOptions } from 'hono/utils/cookie';
import { Secret } from '../../core/secret.ts';
import type { HttpToken, JudgeToken, TokenHolder } from './access.ts';
import { formPageOf, type HttpContext, type HttpEnv, isHttps, localPath } from './context.ts';
import { limitBody, limitRequests } from './failure.tsx';
import { answerPage, Layout } from './pages/layout.tsx';
import { TOO_MANY_SIGN_INS, tooManyAttempts, UNAUTHORIZED, WRONG_TOKEN } from './refusals.ts';

export const SIGN_IN = '/sign-in';
export const SIGN_OUT = '/sign-out';

/** Of bodies that are read before a token is checked. No token in a header can be longer. */
const MAX_BYTES = 16 * 1024;
const MAX_MS = 5000;
/** Of which so many are read at the same time, so that slow ones leave connections to others. */
const MAX_SIGN_INS = 100;

/** Adds the form, the path that it posts to, and the path that signs out. */
export function addSignIn(app: Hono<HttpEnv>, judge: JudgeToken, sessions: Sessions): void {
  app.get(SIGN_IN, (context) =>
    answerPage(context, <SignInPage next={localPath(context.req.query('next') ?? '/')} />),
  );

  const limits = [
    limitRequests(MAX_SIGN_INS, TOO_MANY_SIGN_INS),
    timeout(MAX_MS),
    limitBody(MAX_BYTES),
  ] as const;
  app.post(SIGN_IN, ...limits, async (context) => {
    const form = new URLSearchParams(await context.req.text());
    const next = localPath(form.get('next') ?? '/');
    const verdict = judge(form.get('token') ?? '', context.get('address'));
    if (verdict.type === 'right') {
      await sessions.open(context, verdict.holder);
      return context.redirect(next, 303);
    }
    const failure = verdict.type === 'throttled' ? tooManyAttempts(verdict.waitMs) : WRONG_TOKEN;
    const page = <SignInPage next={next} problem={failure.message} />;
    return await answerPage(context, page, failure.status, failure.headers);
  });

  app.post(SIGN_OUT, (context) => {
    sessions.end(context);
    return context.redirect(SIGN_IN, 303);
  });
}

/**
 * Shows the form instead of a page that needs a session. After signing in, the browser is redirected to the page, and after
 * a form that was not accepted, to the page that the form is on. What a form requests is never done later.
 */
export async function showSignIn(context: HttpContext): Promise<Response> {
  const isReading = context.req.method === 'GET' || context.req.method === 'HEAD';
  const { status, headers = {} } = UNAUTHORIZED;
  const target = context.env.incoming.url ?? '/';
  const formPage = isReading ? null : formPageOf(target);
  const next = localPath(isReading ? target : (formPage ?? '/'));
  return await answerPage(context, <SignInPage next={next} isNotDone={formPage !== null} />, status, headers);
}

interface SignInPageProps {
  /** The address after the sign-in. */
  readonly next: string;
  /** Why the last attempt failed. */
  readonly problem?: string;
  /** Whether the browser sent the form of an action, which was not performed. */
  readonly isNotDone?: boolean;
}

function SignInPage({ next, problem, isNotDone = false }: SignInPageProps) {
  return (
    <Layout title="Sign in">
      <form class="card narrow" method="post" action="/sign-in">
        <h1>Sign in</h1>
        <p>
          rolecall keeps the skills and roles of Planning Service accounts as the files in git say. Here you
          see what changes, and approve it.
        </p>
        {problem === undefined ? null : (
          <p class="notice bad" role="alert" id="problem">
            {problem}
          </p>
        )}
        {isNotDone ? (
          <p class="notice warn">
            Your session has ended, so nothing was done. Sign in, then repeat the action.
          </p>
        ) : null}
        <input type="hidden" name="next" value={next} />
        {/* For password managers, which need a user name. */}
        <input type="text" name="username" value="rolecall" autocomplete="username" hidden />
        <label for="token">Token of this server</label>
        <p class="quiet" id="which">
          The one of <code>http.token</code>, or one of <code>http.tokens</code>, in the service file on its
          machine; not the token of an account.
        </p>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          aria-describedby={problem === undefined ? 'which' : 'problem which'}
          {...(problem === undefined ? {} : { 'aria-invalid': 'true' })}
        />
        <button class="main" type="submit">
          Sign in
        </button>
      </form>
    </Layout>
  );
}

export const SESSION_LIFE_MS = 43_200_000;
const COOKIE = 'rolecall_session';

export type Sessions = ReturnType<typeof createSessions>;

export interface SessionsOptions {
  readonly tokens: readonly HttpToken[];
  readonly sessionKey: () => Promise<Secret>;
  readonly nowMs: () => number;
}

/** The key in the store, which is made once and read when it is first needed. Rejects with StoreError. */
export function sessionKeyIn(settings: {
  valueOr(name: string, fresh: string): Promise<string>;
}): () => Promise<Secret> {
  let key: Secret | undefined;
  return async () =>
    (key ??= new Secret(await settings.valueOr('session_key', randomBytes(32).toString('base64url'))));
}

/** Sessions of twelve hours. Each is bound to the token that it was opened with. */
export function createSessions({ tokens, sessionKey, nowMs }: SessionsOptions) {
  return {
    async open(context: HttpContext, holder: TokenHolder): Promise<void> {
      const key = await sessionKey();
      const token = tokens.find(({ name }) => name === holder.name);
      const mark = token === undefined ? '' : markOf(token.token, key);
      const value = [holder.name, mark, nowMs() + SESSION_LIFE_MS].join(':');
      const options = { ...optionsFor(context), maxAge: SESSION_LIFE_MS / 1000 };
      await setSignedCookie(context, COOKIE, value, key.reveal(), options);
    },
    /** Undefined without a session, when it has expired, and when its token was changed or removed. */
    async find(context: HttpContext): Promise<TokenHolder | undefined> {
      const key = await sessionKey();
      const value = await getSignedCookie(context, key.reveal(), COOKIE, optionsFor(context).prefix);
      const [name = '', mark, end] = typeof value === 'string' ? value.split(':') : [];
      const token = tokens.find((each) => each.name === name);
      if (token === undefined || mark !== markOf(token.token, key) || nowMs() >= Number(end))
        return undefined;
      return { name, role: token.role };
    },
    /** Removes the cookie from the browser. A new key in the store, or a new token, ends copies of it too. */
    end(context: HttpContext): void {
      deleteCookie(context, COOKIE, optionsFor(context));
    },
  };
}

/**
 * Over https the name begins with `__Host-`, so that no other host of the same domain can set the cookie. Where other
 * programs share the host, browsers send it only below the path of this one, which that name does not allow.
 */
function optionsFor(context: HttpContext): CookieOptions {
  const { base } = context.get('page');
  const shared = { path: base || '/', httpOnly: true, sameSite: 'Lax' } as const;
  return isHttps(context) ? { ...shared, secure: true, prefix: base === '' ? 'host' : 'secure' } : shared;
}

/** Differs for each token, and does not reveal it. */
function markOf(token: Secret, key: Secret): string {
  return createHmac('sha256', key.reveal()).update(token.reveal()).digest('base64url');
}
