// The frame of every page. Pages arrive complete and forms send actions; the script only keeps what is shown up to date.
import { tryGetContext } from 'hono/context-storage';
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import { FAVICON, SCRIPT, STYLESHEET } from '../assets.ts';
import { visible } from '../../../report/escape-invisible.ts';
import type { HttpEnv, Visitor } from '../context.ts';

interface LayoutProps {
  readonly title: string;
  /** Without one, there is no navigation. Only a visitor with a session sees the button that ends it. */
  readonly visitor?: Visitor | undefined;
  /** The page in the navigation that this is. */
  readonly current?: keyof typeof NAVIGATION;
  /** After how many seconds a browser without scripts requests the page again. */
  readonly reloadAfterS?: number;
  readonly children: Child;
}

const NAVIGATION = {
  accounts: { href: '/', text: 'Accounts' },
  runs: { href: '/runs', text: 'Runs' },
  activity: { href: '/activity', text: 'Activity' },
} as const;

export function Layout(props: LayoutProps) {
  const { title, visitor, current, reloadAfterS, children } = props;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {/* Browsers must report to this server, and to no other, that a form was sent by one of its own pages. */}
        <meta name="referrer" content="same-origin" />
        {reloadAfterS === undefined ? null : (
          <noscript>
            <meta http-equiv="refresh" content={String(reloadAfterS)} />
          </noscript>
        )}
        <title>{`${title} · rolecall`}</title>
        <link rel="icon" type="image/svg+xml" href={FAVICON.path} />
        <link rel="stylesheet" href={STYLESHEET.path} />
        <script src={SCRIPT.path} defer></script>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href="/">
            rolecall
          </a>
          {visitor === undefined ? null : <Navigation current={current} />}
          {visitor?.kind === 'session' ? (
            <form class="inline" method="post" action="/sign-out">
              <button class="small" type="submit">
                Sign out
              </button>
            </form>
          ) : null}
        </header>
        <main id="main" tabindex={-1}>
          <Pause />
          {children}
        </main>
      </body>
    </html>
  );
}

function Navigation({ current }: { readonly current: LayoutProps['current'] }) {
  return (
    <nav aria-label="Pages">
      {Object.entries(NAVIGATION).map(([name, { href, text }]) => (
        <a href={href} {...(name === current ? { 'aria-current': 'page' } : {})}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** Who paused all accounts, why and until when. The script keeps it up to date. */
function Pause() {
  const pause = tryGetContext<HttpEnv>()?.get('pause') ?? null;
  return (
    <div id="pause" role="status">
      {pause === null ? null : <p class="notice bad">{visible(`${pause}.`)}</p>}
    </div>
  );
}

/** The part of a page that the script replaces by a newer one now and then. A page has at most one. */
export function Live({ children }: { readonly children: Child }) {
  return <div id="live">{children}</div>;
}

/** The text of an answer. */
export async function pageText(page: Child): Promise<string> {
  return String(await html`<!doctype html>${page}`);
}
