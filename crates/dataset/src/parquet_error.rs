//! Why a Parquet file cannot be read or written.

use polars_error::PolarsError;
use polars_parquet::parquet::error::ParquetError as PagesError;

/// Why a Parquet file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ParquetError {
    /// The operating system refused to read or write the file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The Parquet reader or writer gave an error.
    #[error(transparent)]
    Format(FormatError),
    /// The file is of another table, or of a flowmine that did not know this one.
    #[error("the column {0} is missing: this file is not of this table")]
    NotThisTable(&'static str),
    /// The table has no column of this name.
    #[error("the table has no column {0:?}")]
    NoColumn(String),
    /// A column does not have the type that the table declares.
    #[error("the column {0} has values of another type: this file is not of this table")]
    WrongType(&'static str),
    /// A column that always has a value lacks one.
    #[error("the column {0} has a row without a value, which it must not have: this file is not what flowmine writes")]
    NoValue(&'static str),
    /// A text is not text.
    #[error("the column {0} has a text that is not UTF-8: the file is damaged")]
    NotText(String),
    /// The reader gave up in a way that it should not.
    #[error("the file is damaged")]
    Damaged,
    /// A checksum in the file is not that of its bytes.
    #[error(
        "its bytes are not those that were written, a checksum differs ({0}): the disk or a copy damaged it, or another program wrote it again and kept the footer's key flowmine.crc32; restore it from a copy"
    )]
    Altered(String),
    /// It would take more memory than a file of its size can.
    #[error("{0}: it is made to fill the memory, or damaged")]
    TooLarge(String),
    /// Something that a column file cannot hold.
    #[error("no Parquet file can hold this table: {0}")]
    Misfit(&'static str),
}

/// What the format's reader or writer said.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct FormatError(PolarsError);

impl From<PolarsError> for ParquetError {
    fn from(error: PolarsError) -> Self {
        Self::Format(FormatError(error))
    }
}

impl From<PagesError> for ParquetError {
    fn from(error: PagesError) -> Self {
        PolarsError::from(error).into()
    }
}
