// Loads undici; no other file imports it. V8 compiles its WebAssembly parser with an optimising compiler in the
// background, which a short process would wait for at its end. The baseline compiler is fast enough.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--liftoff-only');

const { Agent, EnvHttpProxyAgent, request } = await import('undici');

export { Agent, EnvHttpProxyAgent, request };
