// How a browser signs in and out: it sends a token once, and has a session from then on.
import type { Hono } from 'hono';
import { timeout } from 'hono/timeout';
import type { JudgeToken } from './access.ts';
import { formPageOf, type HttpContext, type HttpEnv } from './context.ts';
import { limitBody, limitRequests } from './failure.tsx';
import { answerPage, Layout } from './pages/layout.tsx';
import { TOO_MANY_SIGN_INS, tooManyAttempts, UNAUTHORIZED, WRONG_TOKEN } from './refusals.ts';
import { localPath } from './request-checks.ts';
import type { Sessions } from './sessions.ts';

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
