// Preloaded into a measured process (--import): at its end writes its peak memory in bytes into the file PEAK_FILE.
import { writeFileSync } from 'node:fs';

process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS * 1024)));
