// The paths of the service's API.

export const PATHS = {
  skill: '/api/public/v1/skill',
  role: '/api/public/v1/role',
  resource: '/api/public/v1/resource',
} as const;
