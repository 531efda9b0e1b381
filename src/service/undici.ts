// The one place that loads undici. Its WebAssembly parser is compiled in the background by an optimising compiler
// that a short process would wait for at its end; the baseline compiler is enough for it.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--liftoff-only');

const { Agent, EnvHttpProxyAgent, request } = await import('undici');

export { Agent, EnvHttpProxyAgent, request };
