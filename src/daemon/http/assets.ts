// The files that pages refer to. The path of each contains its digest, so that browsers can cache it without a limit.
import { sha256 } from '../../platform/digest.ts';
import { DETAIL_STYLES } from './detail-styles.ts';
import { FAVICON_SVG } from './favicon.ts';
import { LIVE_SCRIPT } from './live-script.ts';
import { PAGE_STYLES } from './stylesheet.ts';
import { REPORT_STYLES } from '../../report/stylesheet.ts';

export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function asset(name: string, suffix: string, type: string, text: string): Asset {
  return { path: `/assets/${name}-${sha256(text).slice(0, 16)}.${suffix}`, type, text };
}

export const STYLESHEET = asset(
  'pages',
  'css',
  'text/css; charset=utf-8',
  REPORT_STYLES + PAGE_STYLES + DETAIL_STYLES,
);
export const SCRIPT = asset('app', 'js', 'text/javascript; charset=utf-8', LIVE_SCRIPT);
export const FAVICON = asset('favicon', 'svg', 'image/svg+xml', FAVICON_SVG);

export const ASSETS: readonly Asset[] = [STYLESHEET, SCRIPT, FAVICON];
export const ASSET_CACHING = 'public, max-age=31536000, immutable';
