// Where a browser is sent after it has signed in: somewhere on this server, whatever the form says.

const LOCAL_PATH = /^\/([A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*)?(\?[A-Za-z0-9._~%&=+:,-]*)?$/;
const LONGEST = 2000;

/** The path when it can be nothing but one of this server, else `/`. A second slash, a backslash or a scheme is none. */
export function localPath(text: string): string {
  return text.length <= LONGEST && LOCAL_PATH.test(text) ? text : '/';
}
