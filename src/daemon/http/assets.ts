// The files that pages refer to. The path of each contains its digest, so that browsers can cache it without a limit.
import { sha256 } from '../../system/digest.ts';
import { LIVE_SCRIPT } from './live-script.ts';
import { PAGE_STYLES } from './stylesheet.ts';
import { REPORT_STYLES } from '../../report/stylesheet.ts';

/** A list with a check mark, in colours that are visible in light and in dark windows. */
const FAVICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b57a4"/>
<path d="M7 9.5h10M7 16h7M7 22.5h5" stroke="#fff" stroke-width="3" stroke-linecap="round" fill="none"/>
<path d="M15.5 20.5l4 4 7-9" stroke="#7ed49a" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round" fill="none"/>
</svg>
`;

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function asset(name: string, suffix: string, type: string, text: string): Asset {
  return { path: `/assets/${name}-${sha256(text).slice(0, 16)}.${suffix}`, type, text };
}

export const STYLESHEET = asset('pages', 'css', 'text/css; charset=utf-8', REPORT_STYLES + PAGE_STYLES);
export const SCRIPT = asset('app', 'js', 'text/javascript; charset=utf-8', LIVE_SCRIPT);
export const FAVICON = asset('favicon', 'svg', 'image/svg+xml', FAVICON_SVG);

export const ASSETS: readonly Asset[] = [STYLESHEET, SCRIPT, FAVICON];
export const ASSET_CACHING = 'public, max-age=31536000, immutable';
