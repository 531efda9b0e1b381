// How a store is opened.

export interface OpenOptions {
  /** Fails when the store does not exist. */
  readonly mustExist?: boolean;
  /** Only reads an existing store, which may be on a medium that cannot be written. */
  readonly readOnly?: boolean;
}
