// Preloaded into a measured process (--import): writes its peak memory in bytes into the file PEAK_FILE when it ends.
import { writeFileSync } from 'node:fs';

process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS * 1024)));
