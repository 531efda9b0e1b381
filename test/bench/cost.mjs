// Preloaded into each measured process (--import): writes its processor time and its peak memory into COST_FILE when it
// ends.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const cost = { cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: (maxRSS * 1024) / 1e6 };
  writeFileSync(process.env.COST_FILE, JSON.stringify(cost));
});
