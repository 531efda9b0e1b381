// Sessions of the pages that were ended before they expired, for every process that uses the store.

export interface EndedSession {
  /** The name of the token that opened it. */
  readonly holder: string;
  readonly id: string;
  readonly expiresMs: number;
}

export interface EndedSessions {
  /** Every process refuses copies of the session from then on, also after a restart. */
  end(session: EndedSession, nowMs: number): Promise<void>;
  hasEnded(session: Pick<EndedSession, 'holder' | 'id'>): Promise<boolean>;
}
