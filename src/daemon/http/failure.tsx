// Answers refusals and failures: as JSON below /api, as a page in a browser, otherwise as a line of text.
import { bodyLimit } from 'hono/body-limit';
import { formPageOf, type HttpContext, type HttpMiddleware } from './context.ts';
import { visible } from '../../report/escape-invisible.ts';
import { answerPage, Layout } from './pages/layout.tsx';
import { type Failure, tooLarge } from './refusals.ts';

/** The answer as JSON: `{error: {code, message}}`. */
export function apiFailure(context: HttpContext, failure: Failure): Response {
  const { status, code, message, headers = {}, more = {} } = failure;
  return context.json({ error: { code, message, ...more } }, status, { ...headers });
}

/** The answer in the form that the path and the `Accept` header request. */
export async function answerFailure(context: HttpContext, failure: Failure): Promise<Response> {
  if (isApi(context)) return apiFailure(context, failure);
  const { status, title, message, headers = {} } = failure;
  // Loading the answer to a form again would send the form again.
  const isLoadedAgain = failure.isTemporary === true && context.req.method === 'GET';
  if (!wantsPage(context)) return context.text(`${message}\n`, status, { ...headers });
  const back = formPageOf(context.req.path);
  const page = (
    <Layout
      title={title ?? `Error ${status}`}
      version="failure"
      isLive={isLoadedAgain ? 'soon' : false}
      isReloaded={isLoadedAgain}
    >
      <div class="card narrow">
        <h1>{title ?? message}</h1>
        {title === undefined ? null : <p>{visible(message)}</p>}
        {isLoadedAgain ? <p class="quiet">This page is loaded again every few seconds.</p> : null}
        <p>{back === null ? <a href="/">All accounts</a> : <a href={back}>Back to the account</a>}</p>
      </div>
    </Layout>
  );
  return await answerPage(context, page, status, headers);
}

/** Refuses a request, without reading its body, while so many others have no answer yet. */
export function limitRequests(most: number, refusal: Failure): HttpMiddleware {
  let open = 0;
  return async (context, next) => {
    if (open >= most) return await answerFailure(context, refusal);
    open += 1;
    try {
      return await next();
    } finally {
      open -= 1;
    }
  };
}

/** Refuses a longer body. */
export function limitBody(maxSize: number): HttpMiddleware {
  return bodyLimit({ maxSize, onError: (context: HttpContext) => answerFailure(context, tooLarge(maxSize)) });
}

export function isApi(context: HttpContext): boolean {
  return context.req.path === '/api' || context.req.path.startsWith('/api/');
}

/** Whether the client is a browser that requests a page. */
export function wantsPage(context: HttpContext): boolean {
  return (context.req.header('accept') ?? '').includes('text/html');
}
