// The paths of the service (service document, section 4).

export const PATHS = {
  skill: '/api/public/v1/skill',
  role: '/api/public/v1/role',
  resource: '/api/public/v1/resource',
} as const;
