// The frame of every page. Pages arrive complete and forms send actions; the script only keeps what is shown up to date.
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { PageTime } from '../../../report/html.tsx';
import { visible } from '../../../report/escape-invisible.ts';
import { FAVICON, SCRIPT, STYLESHEET } from '../assets.ts';
import { FrameContext, type HttpContext, useFrame } from '../context.ts';

interface LayoutProps {
  readonly title: string;
  /** The page in the navigation that this is, or to which it belongs. */
  readonly current?: keyof typeof NAVIGATION;
  /** The pages above this one, and its name. */
  readonly trail?: readonly Child[];
  /** Whether a browser without scripts requests the page again every few seconds. */
  readonly isReloaded?: boolean;
  /** Whether the script keeps the page up to date; `soon`: something happens in a moment. */
  readonly isLive?: boolean | 'soon';
  /** When it is another one in a newer page, what this one shows must not be decided on any more. */
  readonly version?: string;
  readonly children: Child;
}

const NAVIGATION = {
  accounts: { href: '/', text: 'Accounts' },
  runs: { href: '/runs', text: 'Runs' },
  activity: { href: '/activity', text: 'Activity' },
} as const;

export function Layout({
  title,
  current,
  trail = [],
  isReloaded = false,
  isLive,
  version,
  children,
}: LayoutProps) {
  const { title: installation, pause } = useFrame();
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {/* Browsers must report to this server, and to no other, that a form was sent by one of its own pages. */}
        <meta name="referrer" content="same-origin" />
        {isReloaded ? (
          <noscript>
            <meta http-equiv="refresh" content="5" />
          </noscript>
        ) : null}
        <title>{visible([title, installation, 'rolecall'].filter(Boolean).join(' · '))}</title>
        <link rel="icon" type="image/svg+xml" href={FAVICON.path} />
        <link rel="stylesheet" href={STYLESHEET.path} />
        <script src={SCRIPT.path} defer></script>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <div class="bar">
            <a class="brand" href="/">
              rolecall
            </a>
            {installation === undefined ? null : <span class="installation">{visible(installation)}</span>}
            <Navigation current={current} />
          </div>
        </header>
        <main
          id="main"
          tabindex={-1}
          data-version={version}
          data-live={isLive === false ? undefined : isLive}
        >
          {trail.length === 0 ? null : (
            <nav class="trail" aria-label="Breadcrumbs">
              {trail.flatMap((each, index) => (index === 0 ? [each] : [' / ', each]))}
            </nav>
          )}
          {pause ? <p class="notice bad">{visible(`${pause}.`)}</p> : null}
          {children}
        </main>
      </body>
    </html>
  );
}

/**
 * Nothing without a visitor. Only one with a session sees the button that ends it. The script shows the button that stops
 * its updates, and what went wrong with them.
 */
function Navigation({ current }: { readonly current: LayoutProps['current'] }) {
  const { visitor } = useFrame();
  if (visitor === undefined) return null;
  return (
    <>
      <nav aria-label="Pages">
        {Object.entries(NAVIGATION).map(([each, { href, text }]) => (
          <a href={href} {...(each === current ? { 'aria-current': 'page' } : {})}>
            {text}
          </a>
        ))}
      </nav>
      <button type="button" id="live" class="plain" hidden></button>
      <span role="status" class="quiet"></span>
      <span class="visitor quiet">{visible(`${visitor.name} · ${visitor.role}`)}</span>
      {visitor.kind === 'session' ? (
        <form method="post" action="/sign-out">
          <button class="plain" type="submit">
            Sign out
          </button>
        </form>
      ) : null}
    </>
  );
}

/** Attributes that contain a path of this server. In texts and values a quote is an entity, so nothing else matches. */
const LINKS = / (?:href|src|action|data-progress)="(?=\/)/g;

/** The text of a page or of a part of one, which shows when and for whom it is made. Its links are those of a browser. */
export async function render(context: HttpContext, part: Child): Promise<string> {
  const { nowMs, base, publicUrl: _, ...page } = context.get('page');
  const frame = { ...page, visitor: context.get('visitor'), pause: context.get('pause') ?? null };
  const text = await html`${(
    <PageTime.Provider value={nowMs}>
      <FrameContext.Provider value={frame}>{part}</FrameContext.Provider>
    </PageTime.Provider>
  )}`;
  return text.replace(LINKS, (start) => start + base);
}

export async function answerPage(
  context: HttpContext,
  page: Child,
  status: ContentfulStatusCode = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return context.html(`<!doctype html>${await render(context, page)}`, status, { ...headers });
}
