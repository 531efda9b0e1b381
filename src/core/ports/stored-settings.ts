// Values that the program keeps for itself in the store, equal for every process that uses the store.

export interface StoredSettings {
  /** The stored value. Without one, stores `fresh` and returns it; of several processes, the value of the first is kept. */
  valueOr(name: string, fresh: string): Promise<string>;
}
