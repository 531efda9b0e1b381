// The paths of the service's API.
import type { Kind } from '../core/catalog.ts';

export const PATHS: Readonly<Record<Kind | 'resource', string>> = {
  skill: '/api/public/v1/skill',
  role: '/api/public/v1/role',
  resource: '/api/public/v1/resource',
};
