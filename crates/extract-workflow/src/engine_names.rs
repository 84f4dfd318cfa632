//! Names of the engines, as in the column `engine`.

pub const AIRFLOW: &str = "airflow";
pub const ARGO: &str = "argo";
pub const KUBERNETES: &str = "kubernetes";
pub const MAKEFLOW: &str = "makeflow";
pub const SNAKEMAKE: &str = "snakemake";
pub const TRANSFORM: &str = "transform";
